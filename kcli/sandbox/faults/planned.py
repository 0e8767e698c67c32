"""The faults that are still to happen. Each runs out (`times`) or is removed (`clear`). APIs have Kafka's names:
"Produce", "Fetch", "JoinGroup"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcli.codes import ErrorCode
from kcli.proto.messages import REQUESTS
from kcli.proto.messages.api_versions import ApiVersion

FOREVER = 1 << 30
ANY = (0, 0x7FFF)  # versions
KEYS = {name: key for key, (_, name) in REQUESTS.items()}


TELLING = ("error", "delay", "deaf", "throttle", "cut", "prefer")
"""Kinds whose value says something to people."""
ORDERED_AS = {
    "silent": "never_answer",
    "deaf": "stop_reading",
    "close": "close_before",
    "cut": "cut_answer",
    "dribble": "byte_by_byte",
    "hold": "two_at_once",
    "correlation": "wrong_correlation_id",
    "tags": "unknown_tags",
    "raw": "answer_with",
    "prefer": "prefer_replica",
}
"""Kinds whose order has another name."""


class Conduct:
    """How the connection treats one request, according to the matching faults."""

    __slots__ = (
        "alter",
        "close_before",
        "correlation_shift",
        "cut_after",
        "deaf",
        "delay",
        "dribble",
        "hold",
        "raw",
        "silent",
        "tags",
        "throttle_ms",
    )

    def __init__(self) -> None:
        self.delay = 0.0  # seconds before the request is processed
        self.close_before = False  # close without processing
        self.silent = False  # process, but never answer
        self.deaf = 0.0  # seconds for which nothing is read afterwards
        self.cut_after: int | None = None  # process, send this number of bytes of the response, close
        self.correlation_shift = 0
        self.throttle_ms = 0
        self.raw: bytes | None = None  # these bytes instead of the response
        self.alter: Callable[[Any], None] | None = None  # changes the response
        self.tags = False  # add unknown tagged fields to the response
        self.dribble = False  # send the response byte by byte
        self.hold = False  # send it together with the next response


class _Planned:
    """One fault, and how often it is still to happen."""

    __slots__ = ("broker", "key", "kind", "partition", "times", "topic", "value")

    def __init__(
        self,
        kind: str,
        key: int | None,
        value: object,
        times: int,
        broker: int | None,
        topic: str | None = None,
        partition: int | None = None,
    ) -> None:
        self.kind, self.key, self.value, self.times, self.broker = kind, key, value, times, broker
        self.topic, self.partition = topic, partition

    def take(self) -> object:
        self.times -= 1
        return self.value


class Planned:
    """A sandbox's faults that are still to happen, in the order in which they were ordered. Namespaces of faults add
    them, brokers take them."""

    def __init__(self) -> None:
        self._planned: list[_Planned] = []
        self.limited: dict[tuple[int, int], tuple[int, int]] = {}  # (broker, API key) to the supported versions
        self.stale: dict[int, dict[tuple[str, int], tuple[int, int]]] = {}  # leaders as seen by a broker

    def plan(
        self,
        kind: str,
        api: str | None,
        value: object = True,
        *,
        times: int,
        broker: int | None = None,
        topic: str | None = None,
        partition: int | None = None,
    ) -> None:
        """Add a fault. Raises ValueError for an unknown API name."""
        key = None if api is None else key_of(api)
        self._planned.append(_Planned(kind, key, value, times, broker, topic, partition))

    def clear(self) -> None:
        """Drop what has not happened yet, and what brokers believe or support."""
        self._planned.clear()
        self.limited.clear()
        self.stale.clear()

    @property
    def pending(self) -> int:
        """How many faults are still to happen."""
        return sum(planned.times for planned in self._planned)

    def waiting(self) -> list[dict[str, Any]]:
        """The faults that are still to happen, as plain values; `times` None is until `clear`."""
        names = {key: name for name, key in KEYS.items()}
        rows: list[dict[str, Any]] = [
            {
                "fault": ORDERED_AS.get(fault.kind, fault.kind),
                "api": None if fault.key is None else names[fault.key],
                "what": str(getattr(fault.value, "name", fault.value)) if fault.kind in TELLING else "",
                "times": fault.times,
                "broker": fault.broker,
                "topic": fault.topic,
                "partition": fault.partition,
            }
            for fault in self._planned
        ]
        nothing = {"what": "", "times": None, "topic": None, "partition": None}
        rows += [{**nothing, "fault": "stale_metadata", "api": "Metadata", "broker": node} for node in self.stale]
        rows += [
            {**nothing, "fault": "speak_only", "api": names[key], "broker": node, "what": f"{low} to {high}"}
            for (node, key), (low, high) in self.limited.items()
        ]
        return rows

    # -- called by the broker -------------------------------------------------------------------------------------

    def code(self, api: int, broker: int, topic: str | None = None, partition: int | None = None) -> ErrorCode | None:
        """Take the error ordered for this; None if there is none."""
        return self.taken("error", api, broker, topic, partition)  # type: ignore[return-value]

    def take(
        self, kind: str, api: int | None, broker: int, topic: str | None = None, partition: int | None = None
    ) -> bool:
        """Take such a fault, if it was ordered; return whether it was."""
        return self.taken(kind, api, broker, topic, partition) is not None

    def taken(
        self, kind: str, api: int | None, broker: int, topic: str | None = None, partition: int | None = None
    ) -> object | None:
        """Take the value of such a fault; None if there is none."""
        for planned in self._planned:
            if (
                planned.kind == kind
                and planned.key == api
                and planned.times > 0
                and planned.broker in (None, broker)
                and planned.topic in (None, topic)
                and planned.partition in (None, partition)
            ):
                value = planned.take()
                if planned.times == 0:
                    self._planned.remove(planned)
                return value
        return None

    def conduct(self, api: int, broker: int) -> Conduct | None:
        """Return how to treat an incoming request; None for normally."""
        if not self._planned:
            return None
        conduct = Conduct()

        def of(kind: str) -> Any:
            return self.taken(kind, api, broker)

        conduct.delay = of("delay") or 0.0
        conduct.close_before = of("close") is not None
        conduct.silent = of("silent") is not None
        conduct.deaf = of("deaf") or 0.0
        conduct.cut_after = of("cut")
        conduct.correlation_shift = of("correlation") or 0
        conduct.throttle_ms = of("throttle") or 0
        conduct.raw = of("raw")
        conduct.alter = of("alter")
        conduct.tags = of("tags") is not None
        conduct.dribble = of("dribble") is not None
        conduct.hold = of("hold") is not None
        return conduct

    def speaks(self, api: int, broker: int) -> range | None:
        """Return the versions of an API that an older broker supports, None for all."""
        limit = self.limited.get((broker, api))
        return None if limit is None else range(limit[0], limit[1] + 1)

    def offered(self, rows: list[ApiVersion], broker: int) -> list[ApiVersion]:
        """Return the rows of ApiVersions restricted by `speak_only`, without APIs that have no version left."""
        if not self.limited:
            return rows
        kept = []
        for row in rows:
            low, high = self.limited.get((broker, row.api_key), ANY)
            row.min_version, row.max_version = max(row.min_version, low), min(row.max_version, high)
            if row.min_version <= row.max_version:
                kept.append(row)
        return kept


def key_of(api: str) -> int:
    """Return the key of an API. Raises ValueError for an unknown name."""
    if api not in KEYS:
        raise ValueError(f"unknown API {api}; known: {', '.join(sorted(KEYS))}")
    return KEYS[api]
