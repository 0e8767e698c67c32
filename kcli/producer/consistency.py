"""Checks before the first record: settings of a producer that contradict each other, or have an unknown value."""

from __future__ import annotations

from kcli.errors import EncodeError, UsageError
from kcli.producer.intake.hashing import NAMES
from kcli.proto.batch import CODECS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.settings import ProducerSettings


def check(settings: ProducerSettings) -> None:
    """Raises UsageError."""
    if settings.idempotence and settings.acks != -1:
        raise UsageError("an idempotent producer needs acks=all (enable.idempotence=false for less)")
    if settings.max_in_flight < 1:
        raise UsageError("without a request in flight nothing is ever sent (max.in.flight.requests is at least 1)")
    if settings.idempotence and settings.max_in_flight > 5:
        raise UsageError("an idempotent producer has at most 5 requests in flight (max.in.flight.requests)")
    if settings.transactional_id is not None and not settings.idempotence:
        raise UsageError("a transactional producer is idempotent (enable.idempotence=true, acks=all)")
    if settings.compression not in CODECS:
        raise UsageError(f"compression.type: unknown codec {settings.compression}; known: {', '.join(CODECS)}")
    if settings.compression_level is not None and settings.compression != "none":
        from kcli.proto.compression import compress

        try:
            compress(settings.compression, b"", settings.compression_level)  # else the first batch would find out
        except EncodeError as problem:
            raise UsageError(f"compression.level: {problem}") from None
    if not callable(settings.partitioner) and settings.partitioner not in NAMES:
        raise UsageError(f"partitioner: unknown partitioner {settings.partitioner}; known: {', '.join(NAMES)}")
    if settings.delivery_timeout < settings.linger + settings.request_timeout:
        raise UsageError("delivery.timeout.ms must be at least linger.ms + request.timeout.ms")
