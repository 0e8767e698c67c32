"""Room in batches that are open: what most records of a loop over `send` need, and all that they need.

Of 10,000 small records one opens a batch. What that one found out about its topic is true for the others until a leader
may have changed, the topic's metadata is forgotten, or the batch is full.
"""

from __future__ import annotations

from kcli.proto.core import Door, Fate, Intake, OpenTopic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kcli.model import Cluster
    from kcli.producer.batches.queue import PartitionQueue
    from kcli.producer.engine.engine import Engine
    from kcli.producer.intake.placement import Placement
    from kcli.settings import ProducerSettings


class Room(Intake):
    """`check` raises when nothing may be sent now."""

    def __init__(
        self,
        cluster: Cluster,
        engine: Engine,
        placement: Placement,
        settings: ProducerSettings,
        check: Callable[[], None],
    ) -> None:
        accumulator = engine.accumulator
        most = settings.max_request_size, settings.batch_records
        moved = placement.opened, engine.budget, engine.ledger.counts
        super().__init__(*moved, engine, cluster.leaders_version, check, accumulator.close, self._renew, *most)
        self._leaders_version = cluster.leaders_version
        self._engine, self._accumulator, self._sizing = engine, accumulator, accumulator.sizing
        self._placement = placement
        # another partitioner, and one that leaves slow partitions, look at each record
        self._used = placement.columnar and not settings.partitioner_availability_timeout

    def remember(self, topic: str, everyone: Sequence[int], queue: PartitionQueue) -> None:
        """A record with a promise went to the queue's open batch, which may be full by now."""
        batch = queue.open
        if not self._used or batch is None or batch.fate is None:
            return
        opened, version = self._placement.opened.get(topic), self._leaders_version()
        if opened is None or opened.version != version or opened.everyone is not everyone:
            opened = self._placement.opened[topic] = OpenTopic(everyone, self._placement.sticky(topic), version)
        if batch.door is None:
            batch.door = Door(batch.builder, batch.fate, queue)
        opened.doors[queue.at.partition] = batch.door
        opened.limit = self._sizing.limit(topic)

    def _renew(self, topic: str, opened: OpenTopic, queue: PartitionQueue) -> Door | None:
        """The way into a new batch of a queue whose last one has ended. None where a batch was opened by other input,
        or the topic's metadata was forgotten: the first record of a batch then finds everything out (D1, D14)."""
        if queue.open is not None or self._placement.known(topic, None) is not opened.everyone:
            return None
        loop = self._engine.loop
        batch = self._accumulator.open(queue, loop.time())
        fate = batch.fate = Fate(queue.at, loop)
        door = batch.door = opened.doors[queue.at.partition] = Door(batch.builder, fate, queue)
        opened.limit = self._sizing.limit(topic)
        return door
