"""Draining: what goes into the next request to a leader. One batch per partition and `max_request_size` bytes (D9)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import Cluster, TopicPartition
    from kcli.producer.batches.accumulator import Accumulator
    from kcli.producer.batches.batch import ProducerBatch
    from kcli.producer.batches.queue import PartitionQueue
    from kcli.producer.transactions.transaction import Transactions
    from kcli.settings import ProducerSettings

    Sent = list[tuple[PartitionQueue, ProducerBatch]]


class Draining:
    """For one node. `served` is the last partition of the last request."""

    def __init__(
        self,
        node_id: int,
        cluster: Cluster,
        accumulator: Accumulator,
        settings: ProducerSettings,
        transactions: Transactions | None,
    ) -> None:
        self.node_id = node_id
        self._cluster = cluster
        self._accumulator = accumulator
        self._settings = settings
        self._transactions = transactions
        self.served: TopicPartition | None = None

    def ready(self, now: float) -> tuple[Sent, float | None]:
        """The batches of the next request, or when to check again. It begins after the last partition of the request
        before, so that all have their turn (A4.23)."""
        settings, later = self._settings, None
        ready: Sent = []
        size = 0
        for queue in self.mine():
            queue.belongs_to(self._cluster.topic_id(queue.at.topic))
            batch = queue.sendable(now, self.node_id, ordered=settings.max_in_flight == 1)
            if batch is None:
                if queue.rested_at() > now:
                    later = min(later or 1e18, queue.rested_at())
                continue
            if self._transactions is not None and not self._transactions.admits(queue.at):
                continue
            if ready and size + batch.size > settings.max_request_size:
                break
            size += batch.size
            ready.append((queue, batch))
        if ready and self._accumulator.lingering:
            self._take_along(now, ready, size)
        return ready, later

    def _take_along(self, now: float, ready: Sent, size: int) -> None:
        """A request goes anyway: batches that only linger ride along while there is room (A1.18). Linger saves
        requests, and this one costs none."""
        ordered = self._settings.max_in_flight == 1
        for queue in self.mine():
            batch = queue.open
            queue.belongs_to(self._cluster.topic_id(queue.at.topic))
            if batch is None or not batch.count or not queue.may_follow(ordered=ordered):
                continue
            if size + batch.size > self._settings.max_request_size or not self._accumulator.closes_at_once(batch):
                continue
            if self._transactions is not None and not self._transactions.admits(queue.at):
                continue
            self._accumulator.close(queue)
            if queue.sendable(now, self.node_id, ordered=ordered) is batch:
                size += batch.size
                ready.append((queue, batch))

    def mine(self) -> list[PartitionQueue]:
        """The partitions this node leads, in turn."""
        mine = [q for q in self._accumulator.active.values() if self._cluster.leader_id(q.at) == self.node_id]
        for place, queue in enumerate(mine):
            if queue.at == self.served:
                return mine[place + 1 :] + mine[: place + 1]
        return mine
