"""Interceptors: hooks called before a record is accepted and when its outcome is known.

They run in the order of registration. An exception in a hook is logged as a warning and does not affect the record;
this includes CancelledError, because a hook does not wait and so is never the one being cancelled. Interceptors see
single records, so with them the bulk methods process records one by one.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NamedTuple, Protocol

    from kcli.producer.batches.batch import RecordMetadata
    from kcli.producer.intake.send_records import Headers

    class ProducerRecord(NamedTuple):
        """A record as given by the caller. `partition` None: chosen by key, or any; `timestamp` in ms, None is now."""

        topic: str
        value: bytes | None
        key: bytes | None
        headers: Headers
        partition: int | None
        timestamp: int | None

    class Interceptor(Protocol):
        """Both methods are called in the event loop and must not block."""

        def on_send(self, record: ProducerRecord) -> ProducerRecord:
            """Return the record to send instead, or the same one."""

        def on_acknowledgement(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
            """Receive the position of the record, or the error, even if it was never accepted; (None, None) if the
            caller cancelled the future."""
else:
    ProducerRecord = namedtuple("ProducerRecord", "topic value key headers partition timestamp")


class Interceptors:
    """The interceptors of a producer. `warn` is called with a sentence for each hook that raised."""

    def __init__(self, all_of_them: Sequence[Interceptor], warn: Callable[[str], None]) -> None:
        self._all = list(all_of_them)
        self._warn = warn

    def __bool__(self) -> bool:
        return bool(self._all)

    def on_send(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None,
        headers: Headers,
        partition: int | None,
        timestamp: int | None,
    ) -> ProducerRecord:
        """Return the record after all hooks."""
        record = ProducerRecord(topic, value, key, headers, partition, timestamp)
        for interceptor in self._all:
            try:
                changed: object = interceptor.on_send(record)
            except (Exception, CancelledError) as problem:  # noqa: BLE001 - a hook must not decide over records
                self._warn(f"{type(interceptor).__name__}.on_send raised {problem!r}; the record is sent as it was")
                continue
            if isinstance(changed, ProducerRecord):
                record = changed
            else:
                self._warn(f"{type(interceptor).__name__}.on_send gave {changed!r}, no record; it is sent as it was")
        return record

    def on_acknowledgement(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        """Notify all hooks."""
        for interceptor in self._all:
            try:
                interceptor.on_acknowledgement(metadata, error)
            except (Exception, CancelledError) as problem:  # noqa: BLE001 - as above
                self._warn(f"{type(interceptor).__name__}.on_acknowledgement raised {problem!r}")
