"""Telemetry of clients (KIP-714): subscriptions are the configs of client metrics, pushes are kept in memory."""

from __future__ import annotations

import re
import time
from collections import deque
from zlib import crc32

from kcli import codes
from kcli.codes import ErrorCode
from kcli.proto.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsResponse
from kcli.proto.schema import NO_ID
from kcli.sandbox.configs.named_configs import NamedConfigs
from kcli.values import Value

COMPRESSIONS = [4, 3, 1, 2]  # zstd, lz4, gzip, snappy: Kafka's order
LARGEST = 1024 * 1024  # telemetry.max.bytes
INTERVAL = 300_000  # ms, where no subscription matches
KEPT = 1000
"""Pushes that are kept; the oldest go."""


class Push(Value):
    """What a client pushed; `metrics` is MetricsData of OpenTelemetry v1, decompressed."""

    client_id: str = ""
    instance: bytes = NO_ID
    terminating: bool = False
    compression: int = 0
    metrics: bytes = b""


class Telemetry:
    """`pushes` are those that were accepted."""

    def __init__(self, configs: NamedConfigs) -> None:
        self._configs = configs
        self._pushed: dict[bytes, float] = {}  # when each instance last pushed (monotonic)
        self._ended: set[bytes] = set()
        self.pushes: deque[Push] = deque(maxlen=KEPT)

    def subscription(self, instance: bytes, client_id: str, host: str) -> GetTelemetrySubscriptionsResponse:
        """What is wanted of a client. Its id is made of its content, so an old one is known as such."""
        wanted: set[str] = set()
        intervals: list[int] = []
        for configs in self._configs.metrics.values():
            if _matches(configs.get("match", ""), client_id, instance, host):
                wanted |= {name.strip() for name in configs.get("metrics", "").split(",") if name.strip()}
                intervals.append(int(configs.get("interval.ms", INTERVAL)))
        interval = min(intervals, default=INTERVAL)
        metrics = ["*"] if "*" in wanted else sorted(wanted)
        return GetTelemetrySubscriptionsResponse(
            client_instance_id=instance,
            subscription_id=crc32(repr((metrics, interval)).encode()) >> 1,
            accepted_compression_types=COMPRESSIONS,
            push_interval_ms=interval,
            telemetry_max_bytes=LARGEST,
            delta_temporality=True,
            requested_metrics=metrics,
        )

    def take(self, push: Push, subscription_id: int, host: str) -> ErrorCode:
        """Keep a push, or say why not."""
        instance, now = push.instance, time.monotonic()
        if instance == NO_ID or instance in self._ended:
            return codes.INVALID_REQUEST
        known = self.subscription(instance, push.client_id, host)
        if subscription_id != known.subscription_id:
            return codes.UNKNOWN_SUBSCRIPTION_ID
        last = self._pushed.get(instance)
        if last is not None and not push.terminating and now - last < known.push_interval_ms / 1000:
            return codes.THROTTLING_QUOTA_EXCEEDED
        if push.compression not in (0, *COMPRESSIONS):
            return codes.UNSUPPORTED_COMPRESSION_TYPE
        if len(push.metrics) > LARGEST:
            return codes.TELEMETRY_TOO_LARGE
        self._pushed[instance] = now
        if push.terminating:
            self._ended.add(instance)
        push.metrics = _plain(push)
        self.pushes.append(push)
        return codes.NONE


def _plain(push: Push) -> bytes:
    from kcli.proto.batch import CODECS
    from kcli.proto.compression import decompress

    if not push.compression:
        return push.metrics
    return bytes(decompress(CODECS[push.compression], push.metrics, 64 * LARGEST))


def _matches(match: str, client_id: str, instance: bytes, host: str) -> bool:
    """Whether each selector's pattern matches; what the sandbox does not know of a client matches nothing."""
    known = {"client_id": client_id, "client_instance_id": instance.hex(), "client_source_address": host.lstrip("/")}
    parts = [part.partition("=") for part in match.split(",") if part.strip()]
    return all(re.fullmatch(pattern.strip(), known.get(name.strip(), "")) for name, _, pattern in parts)
