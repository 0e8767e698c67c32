"""The records of many batches as one stream of messages."""

from __future__ import annotations

from kcli.proto.columns import Message
from kcli.proto.plain.records import read_records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.proto.columns import Record
    from kcli.proto.plain.walk import Header


class Messages:
    """An iterator that ends when `more` raises StopIteration. At the end of a batch `more()` is called, again and again
    until it has opened another. `after` is one past the last offset given of the batch, -1 before the first."""

    __slots__ = ("_about", "_more", "_rows", "after", "partition", "topic")

    def __init__(self, more: Callable[[], None]) -> None:
        self._more = more
        self._rows: list[Record] = []  # what is left of the batch, the last first
        self.topic = ""
        self.partition = -1
        self.after = -1
        self._about = "create", -1  # the type of the timestamps, and the leader epoch

    def open(self, h: Header, topic: str, partition: int) -> None:
        """Read this batch next; all of it is checked. Raises DecodeError, and then nothing is open."""
        self.drop()
        self._rows = list(read_records(h))[::-1]
        self.topic, self.partition = topic, partition
        self._about = "append" if h.attributes & 8 else "create", h.leader_epoch

    def drop(self) -> None:
        """What is left of the batch is not given; another thread may be asking for it."""
        self._rows.clear()
        self.after = -1

    def left(self) -> bool:
        """Whether the batch has messages that were not given."""
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
