"""A transaction coordinator's memory of one transactional id, and logs that know what became of each record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kcli import codes
from kcli.codes import ErrorCode
from kcli.model import TopicPartition
from kcli.proto.batch import Batch
from kcli.proto.messages.produce import PartitionProduceResponse
from tests.producer.world import Log

LAST_EPOCH = 32766


class Keeper(Protocol):
    """Whose books these are."""

    books: Books
    produced_by_v2: bool
    offsets: dict[tuple[str, TopicPartition], int]

    @property
    def logs(self) -> Mapping[TopicPartition, Log]: ...


class TransactionLog(Log):
    """Knows of every record whose it is and what became of it."""

    def __init__(self, at: TopicPartition, leader: int, world: Keeper) -> None:
        super().__init__(at, leader)
        self.world = world
        self.fates: list[str] = []
        self.owners: list[int] = []

    def append(self, batch: Batch, size: int = 0) -> PartitionProduceResponse:
        assert batch.is_transactional, "the attribute bit is missing (A1.20)"
        code = self.world.books.may_produce(self.at, batch, self.world.produced_by_v2)
        if code:
            return self.answer(code)
        answer = super().append(batch, size)
        new = len(self.records) - len(self.fates)
        self.fates += ["open"] * new
        self.owners += [batch.producer_id] * new
        return answer

    def end(self, producer_id: int, fate: str) -> None:
        for index, owner in enumerate(self.owners):
            if owner == producer_id and self.fates[index] == "open":
                self.fates[index] = fate

    @property
    def committed(self) -> list[bytes | None]:
        """What read_committed shows, ahead of the last stable offset too."""
        return [value for value, fate in zip(self.records, self.fates, strict=True) if fate == "committed"]


class Books:
    """The transaction coordinator's memory of one transactional id."""

    def __init__(self, world: Keeper) -> None:
        self.world = world
        self.producer_id, self.epoch = -1, -1
        self.state = "Empty"
        self.partitions: set[TopicPartition] = set()
        self.pending: dict[tuple[str, TopicPartition], int] = {}
        self.groups: set[str] = set()
        self.bumped_by: tuple[int, str] | None = None  # the epoch an EndTxn came with, and how it ended
        self.unregistered = 0  # batches that came for a partition nobody had announced

    def may_produce(self, at: TopicPartition, batch: Batch, v2: bool) -> ErrorCode:
        if batch.producer_id != self.producer_id or batch.producer_epoch != self.epoch:
            return codes.INVALID_PRODUCER_EPOCH
        if v2:
            self.state = "Ongoing"
            self.partitions.add(at)
        elif self.state != "Ongoing" or at not in self.partitions:
            self.unregistered += 1
            return codes.INVALID_TXN_STATE
        return codes.NONE

    def bump(self) -> None:
        if self.epoch >= LAST_EPOCH:
            self.producer_id, self.epoch = self.producer_id + 1000, -1
        self.epoch += 1

    def init(self, producer_id: int, epoch: int) -> ErrorCode:
        if self.producer_id < 0:
            self.producer_id = 500
        elif producer_id >= 0 and (producer_id, epoch) != (self.producer_id, self.epoch):
            retried = self.bumped_by == (epoch, "init") and (producer_id, epoch + 1) == (self.producer_id, self.epoch)
            return codes.NONE if retried else codes.PRODUCER_FENCED
        elif self.state == "Ongoing":
            self.bump()
            self.complete("aborted")
            return codes.CONCURRENT_TRANSACTIONS
        self.bumped_by = (self.epoch, "init")
        self.bump()
        self.state = "Empty"
        return codes.NONE

    def fenced(self, producer_id: int, epoch: int) -> ErrorCode:
        if producer_id != self.producer_id:
            return codes.INVALID_PRODUCER_ID_MAPPING
        return codes.NONE if epoch == self.epoch else codes.PRODUCER_FENCED

    def begin(self) -> None:
        self.state = "Ongoing"

    def end(self, producer_id: int, epoch: int, committed: bool, v2: bool) -> ErrorCode:
        fate = "committed" if committed else "aborted"
        ended = "CompleteCommit" if committed else "CompleteAbort"
        if v2 and self.bumped_by in ((epoch, "committed"), (epoch, "aborted")):  # asked again, or timed out before
            return codes.NONE if self.bumped_by == (epoch, fate) else codes.INVALID_TXN_STATE
        code = self.fenced(producer_id, epoch)
        if code:
            return code
        if self.state == "Ongoing":
            self.complete(fate)
        elif not (v2 and not committed) and (v2 or self.state != ended):
            return codes.INVALID_TXN_STATE
        if v2:
            self.bumped_by = (epoch, fate)
            self.bump()
        return codes.NONE

    def complete(self, fate: str) -> None:
        for at in self.partitions:
            self.world.logs[at].end(self.producer_id, fate)  # type: ignore[attr-defined]
        if fate == "committed":
            self.world.offsets.update(self.pending)
        self.partitions, self.pending, self.groups = set(), {}, set()
        self.state = "CompleteCommit" if fate == "committed" else "CompleteAbort"

    def time_out(self) -> None:
        """The transaction took too long: the coordinator aborts it and fences its producer."""
        if self.state == "Ongoing":
            self.bumped_by = (self.epoch, "aborted")
            self.bump()
            self.complete("aborted")
