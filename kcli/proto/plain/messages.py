"""The records of many batches as a stream of messages."""

from __future__ import annotations

from kcli.proto.columns import Message
from kcli.proto.plain.records import read_records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.proto.columns import Record
    from kcli.proto.plain.walk import Header


class Messages:
    """An iterator that ends when `more` raises StopIteration. At the end of a batch `more()` is called repeatedly until
    it has opened another. `after` is the offset after the last one returned from the batch, -1 before the first."""

    __slots__ = ("_about", "_more", "_rows", "after", "partition", "topic")

    def __init__(self, more: Callable[[], None]) -> None:
        self._more = more
        self._rows: list[Record] = []  # the rest of the batch, in reverse
        self.topic = ""
        self.partition = -1
        self.after = -1
        self._about = "create", -1  # timestamp type and leader epoch

    def open(self, h: Header, topic: str, partition: int) -> None:
        """Read this batch next, after checking all of it. Raises DecodeError, and then nothing is open."""
        self.drop()
        self._rows = list(read_records(h))[::-1]
        self.topic, self.partition = topic, partition
        self._about = "append" if h.attributes & 8 else "create", h.leader_epoch

    def drop(self) -> None:
        """Discard the rest of the batch; another thread may be asking for it."""
        self._rows.clear()
        self.after = -1

    def left(self) -> bool:
        """Whether the batch has messages left."""
        return bool(self._rows)

    def __iter__(self) -> Messages:
        return self

    def __next__(self) -> Message:
        while True:
            topic, partition, about = self.topic, self.partition, self._about
            try:
                record = self._rows.pop()
            except IndexError:
                self._more()
            else:
                self.after = record.offset + 1
                return Message(topic, partition, *record, *about)
