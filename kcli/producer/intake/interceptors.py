"""Hooks before a record is accepted and when its fate is known (A4.06, A5.07).

In the order of registration. What a hook raises is a warning, never the record's fate; also a CancelledError, because a
hook does not wait and so is never the one that is cancelled. They need a record at a time,
so with interceptors the bulk paths go record by record.
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
        """A record as its sender gave it. `partition` None: by key, or anywhere; `timestamp` in ms, None is now."""

        topic: str
        value: bytes | None
        key: bytes | None
        headers: Headers
        partition: int | None
        timestamp: int | None

    class Interceptor(Protocol):
        """Both are called in the loop and must not wait."""

        def on_send(self, record: ProducerRecord) -> ProducerRecord:
            """The record to send instead, or the same."""

        def on_acknowledgement(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
            """Where it was stored, or why not, also when it was not even accepted; (None, None) if its sender no longer
            wanted to know."""
else:
    ProducerRecord = namedtuple("ProducerRecord", "topic value key headers partition timestamp")


class Interceptors:
    """All of a producer's. `warn` gets a sentence for each hook that raised."""

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
        """The record after every hook had it."""
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
        """Tell every hook."""
        for interceptor in self._all:
            try:
                interceptor.on_acknowledgement(metadata, error)
            except (Exception, CancelledError) as problem:  # noqa: BLE001 - as above
                self._warn(f"{type(interceptor).__name__}.on_acknowledgement raised {problem!r}")
