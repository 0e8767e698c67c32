"""A batch on its way: being filled, sealed, sent, settled. Promises exist only for records sent one by one."""

from __future__ import annotations

from kcli.proto.batch import seal
from kcli.proto.core import Builder

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio

    from kcli.errors import KcliError
    from kcli.model import TopicPartition
    from kcli.proto.batch import SealedBatch
    from kcli.settings import ProducerSettings


class RecordMetadata:
    """Where a record was stored. `offset` is -1 when the broker did not tell; `timestamp` is in milliseconds."""

    __slots__ = ("offset", "partition", "timestamp", "topic")

    def __init__(self, topic: str, partition: int, offset: int, timestamp: int) -> None:
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp

    def __repr__(self) -> str:
        return f"RecordMetadata({self.topic}[{self.partition}]@{self.offset}, {self.timestamp})"


class BatchOutcome:
    """The outcome of a batch. `unknown`: it may be stored, because no response came."""

    __slots__ = ("base_offset", "count", "error", "partition", "topic", "unknown")

    def __init__(
        self, topic: str, partition: int, count: int, base_offset: int, error: KcliError | None, unknown: bool
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.count = count
        self.base_offset = base_offset
        self.error = error
        self.unknown = unknown


class ProducerBatch:
    """Records of one partition that travel together. Times are the loop's seconds. `number` is its place among all
    batches: the parts of 7 are 7.0 and 7.1, written (7, 0) and (7, 1)."""

    __slots__ = (
        "at",
        "builder",
        "charged",
        "count",
        "created",
        "doubtful",
        "maybe_written",
        "not_before",
        "number",
        "parts",
        "promises",
        "raw",
        "resent",
        "retries",
        "sealed",
        "sealing",
        "sent",
        "sent_to",
        "settled",
        "spare",
        "stamp",
        "timestamps",
        "trouble",
    )

    def __init__(self, at: TopicPartition, created: float, number: tuple[int, ...]) -> None:
        self.at = at
        self.created = created
        self.number = number
        self.builder = Builder()
        self.sealed: SealedBatch | None = None
        self.sealing = False
        self.count = 0
        self.raw = 0  # bytes of records before compression, once sealed
        self.charged = 0  # bytes taken from the budget, once no record can be added
        self.spare = 0  # bytes taken from it beyond those of the records
        self.promises: list[tuple[int, asyncio.Future[RecordMetadata]]] = []
        self.timestamps: list[int] = []  # of the promised records
        self.sent = False  # at least once
        self.resent = False  # more than once
        self.sent_to = -1  # the node of the last attempt
        self.retries = 0  # attempts that failed by no fault of an earlier batch
        self.maybe_written = False  # some attempt ended without an answer that says no
        self.doubtful = False  # part of a batch that may be stored whole: its own sequence proves nothing
        self.not_before = 0.0
        self.stamp: tuple[int, int, int] | None = None  # producer id, epoch, base sequence (D24)
        self.parts: list[ProducerBatch] = []  # what it was split into: they carry on, it is out of everything
        self.trouble = ""  # what the last attempt ended with
        self.settled = False

    @property
    def size(self) -> int:
        """Bytes on the wire once sealed, of the records until then."""
        return self.sealed.size if self.sealed is not None else self.builder.size

    def end(self) -> None:
        """No record will be added from now on."""
        self.count = self.builder.count
        self.charged = self.builder.size + self.spare

    def close(self, settings: ProducerSettings) -> None:
        """Seal the batch. May run in a thread."""
        builder = self.builder
        self.raw = builder.size
        base, newest = builder.base_timestamp, builder.max_timestamp
        self.sealed = seal(
            builder.take(),
            self.count,
            base,
            newest,
            codec=settings.compression,
            level=settings.compression_level,
            transactional=settings.transactional_id is not None,
        )

    def promise(self, future: asyncio.Future[RecordMetadata], timestamp: int) -> None:
        """A future for the last appended record."""
        self.promises.append((self.builder.count - 1, future))
        self.timestamps.append(timestamp)

    def keep_promises(self, base_offset: int, append_time: int) -> None:
        """Every waiter gets its record's place: its own offset and, unless the broker set one, its own time (D32)."""
        topic, partition = self.at
        for (index, future), timestamp in zip(self.promises, self.timestamps):
            if not future.done():
                offset = base_offset + index if base_offset >= 0 else -1
                stored = append_time if append_time >= 0 else timestamp
                future.set_result(RecordMetadata(topic, partition, offset, stored))

    def break_promises(self, error: KcliError, own: dict[int, KcliError] | None = None) -> None:
        """Every waiter gets the error, or the one of its own record (KIP-467)."""
        for index, future in self.promises:
            if not future.done():
                future.set_exception((own or {}).get(index, error))
                future.exception()  # whoever does not look at it does not want to know
