"""A batch: being filled, sealed, sent, settled. It has an `outcome` (the records' promises) only if records were sent
singly."""

from __future__ import annotations

from kcli.proto.batch import seal
from kcli.proto.columns import RecordMetadata
from kcli.proto.core import Builder, OpenBatch, Promise, SharedOutcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio

    from kcli.codes import ErrorCode
    from kcli.errors import KcliError
    from kcli.model import Node, TopicPartition
    from kcli.proto.batch import SealedBatch
    from kcli.settings import ProducerSettings

__all__ = ["BatchOutcome", "ProducerBatch", "RecordMetadata"]


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
    """Records of one partition that are sent together. Times are loop time in seconds. `number` is the position among
    all batches: the parts of batch 7 are 7.0 and 7.1, written as (7, 0) and (7, 1)."""

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
        "open_batch",
        "outcome",
        "parts",
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
        self.raw = 0  # bytes of records before compression, set when sealed
        self.charged = 0  # bytes taken from the budget, set when no record can be added
        self.spare = 0  # bytes taken from the budget beyond the records' size
        self.outcome: SharedOutcome | None = None  # the promises of records that were sent singly
        self.open_batch: OpenBatch | None = None  # while such records can be added by the fast path
        self.sent = False  # at least once
        self.resent = False  # more than once
        self.sent_to = -1  # node of the last attempt
        self.retries = 0  # failed attempts, except those caused by an earlier batch
        self.maybe_written = False  # an attempt ended without a response that rules it out
        self.doubtful = False
        """Whether the sequence number proves nothing: the batch is part of one that may be stored whole, or it was sent
        to a topic that has been deleted since."""
        self.not_before = 0.0
        self.stamp: tuple[int, int, int] | None = None  # producer id, epoch, base sequence
        self.parts: list[ProducerBatch] = []  # the batches it was split into, which replace it
        self.trouble = ""  # the error of the last attempt
        self.settled = False

    @property
    def size(self) -> int:
        """Bytes on the wire once sealed; until then, of the records."""
        return self.sealed.size if self.sealed is not None else self.builder.size

    def end(self) -> None:
        """End the batch: no more records can be added."""
        if self.open_batch is not None:
            self.open_batch.open = False
            self.spare += self.open_batch.spare
        self.count = self.builder.count
        self.charged = self.builder.size + self.spare

    def close(self, settings: ProducerSettings) -> None:
        """Seal the batch. Can run in a thread."""
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

    def promise(self, timestamp: int, loop: asyncio.AbstractEventLoop) -> Promise:
        """Return the promise of the last appended record."""
        if self.outcome is None:
            self.outcome = SharedOutcome(self.at, loop)
        return Promise(self.outcome, self.builder.count - 1, timestamp)


class Answer:
    """A partition's part of a Produce response: error, base offset, append time in ms (-1: unknown), indexes of the
    records that the broker rejected (KIP-467), and the current leader (KIP-951; -1: not given)."""

    __slots__ = ("append_time", "base_offset", "code", "endpoint", "leader_epoch", "leader_id", "message", "records")

    def __init__(self, code: ErrorCode) -> None:
        self.code = code
        self.base_offset = -1
        self.append_time = -1
        self.message: str | None = None
        self.records: dict[int, str | None] = {}
        self.leader_id = -1
        self.leader_epoch = -1
        self.endpoint: Node | None = None
