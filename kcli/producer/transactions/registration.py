"""The partitions of a transaction: under protocol v1 each is announced before the first batch goes there (D36)."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.errors import KcliError
from kcli.proto.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.codes import ErrorCode
    from kcli.model import TopicPartition
    from kcli.producer.transactions.identity import TransactionalIdentity
    from kcli.producer.transactions.requests import Coordination
    from kcli.proto.messages.add_partitions_to_txn import AddPartitionsToTxnResponse

BY_CLIENTS = 3
"""From version 4 on the request is for brokers (KIP-890)."""


class Registration:
    """`touched` are the partitions that belong to the transaction. `failed` gets a final error, `wake` is called when
    records may be sent."""

    def __init__(
        self,
        coordination: Coordination,
        identity: TransactionalIdentity,
        failed: Callable[[KcliError], None],
        wake: Callable[[], None],
    ) -> None:
        self._coordination = coordination
        self._identity = identity
        self._failed = failed
        self._wake = wake
        self.touched: set[TopicPartition] = set()
        self._known: set[TopicPartition] = set()
        self._wanted: set[TopicPartition] = set()
        self._asked: set[TopicPartition] = set()  # by the request that is in progress
        self._task: asyncio.Task[None] | None = None

    def has(self, at: TopicPartition) -> bool:
        """Whether the partition was announced; if not, it will be."""
        if at in self._known:
            return True
        if at not in self._wanted and at not in self._asked:
            self._wanted.add(at)
            self._wake()
        return False

    async def stop(self) -> None:
        """Announce nothing more. A request on its way arrives before the EndTxn that follows it on the connection; a
        retried one would open the next transaction."""
        self._wanted.clear()
        self._asked = set()
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    def clear(self) -> None:
        """The transaction is over."""
        self.touched.clear()
        self._known.clear()
        self._wanted.clear()

    def announce(self, group: asyncio.TaskGroup) -> None:
        """Ask the coordinator to add all waiting partitions in one request, unless a request is in progress."""
        if self._wanted and (self._task is None or self._task.done()):
            wanted, self._wanted = self._wanted, set()
            self._asked = wanted
            self.touched |= wanted
            self._task = group.create_task(self._add(wanted), name="add partitions to the transaction")

    async def _add(self, wanted: set[TopicPartition]) -> None:
        topics: dict[str, list[int]] = {}
        for name, partition in sorted(wanted):
            topics.setdefault(name, []).append(partition)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._coordination.key.name,
            v3_and_below_producer_id=self._identity.producer_id,
            v3_and_below_producer_epoch=self._identity.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=name, partitions=some) for name, some in topics.items()],
        )
        doubt: list[KcliError] = []
        try:
            await self._coordination.ask(
                request,
                first_error,
                self._coordination.about,
                topics=topics,
                max_version=BY_CLIENTS,
                doubt=doubt,
            )
        except KcliError as problem:
            if not doubt:
                self.touched -= wanted  # it certainly is not part of the transaction: there may be nothing to end (D42)
            self._failed(problem)
        else:
            self._known |= wanted
        finally:
            self._asked = set()
        # when this task is done: the engine looks whether more is wanted
        asyncio.get_running_loop().call_soon(self._wake)


def first_error(answer: AddPartitionsToTxnResponse) -> ErrorCode:
    """The first relevant error: OPERATION_NOT_ATTEMPTED only means that another partition had one."""
    errors = [
        codes.of(part.partition_error_code)
        for topic in answer.results_by_topic_v3_and_below
        for part in topic.results_by_partition
        if part.partition_error_code
    ]
    real = [code for code in errors if code is not codes.OPERATION_NOT_ATTEMPTED]
    return next(iter(real or errors), codes.NONE)
