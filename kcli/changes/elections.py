"""Leader elections: of each partition's preferred leader, or, unclean, of any replica that is alive."""

from __future__ import annotations

import asyncio

from kcli.admin.cluster.elections import elect_leaders, is_preferred, why_not_preferred
from kcli.admin.reassign.reassignments import about
from kcli.admin.topics.topics import Partition, Topic, describe_topics
from kcli.backoff import Backoff, repeat
from kcli.changes.change import Plan, Row
from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.text.numbers import counted
from kcli.values import field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.model import Cluster

PATIENCE = 5.0  # seconds until brokers have learned of a new leader
PAUSE = 0.05


class ElectionRow(Row):
    """The leader of a partition, None for none."""

    columns = "topic=name partition old new replicas isr result note".split()
    partition: int = 0
    replicas: list[int] = field(factory=list)
    isr: list[int] = field(factory=list)
    result: str = "would elect"
    words: tuple[str, str, str] = ("would elect", "not needed", "elected")


def plan(partitions: Mapping[TopicPartition, Partition], *, unclean: bool = False, needed_only: bool = False) -> Plan:
    """Return the plan for these partitions from the metadata: each elects its preferred replica, or with `unclean` any
    live replica where none leads. With `needed_only`, partitions that need no election have no row."""
    rows = {at: _row(at, partition, unclean) for at, partition in partitions.items()}
    needed = [at for at, row in rows.items() if row.is_open]
    made = Plan(rows=[row for row in rows.values() if row.is_open or not needed_only])
    if not needed:
        return made
    if unclean:
        loses = "permanently loses records that only the missing replicas have. If a broker can come back, wait for it."
        made.warnings.append(f"WARNING: an unclean election of {counted(len(needed), 'partition')} {loses}")

    async def apply(cluster: Cluster) -> None:
        done = await elect_leaders(cluster, needed, unclean=unclean)
        now = await _heard(cluster, {at: partitions[at].leader for at, outcome in done.items() if outcome is True})
        for at, outcome in done.items():
            row, error = rows[at], outcome if isinstance(outcome, KcliError) else None
            row.new = now.get(at, row.old if error else row.new)
            row.settle(error, unchanged=outcome is False or None)

    made.apply = apply
    return made


def _row(at: TopicPartition, partition: Partition, unclean: bool) -> ElectionRow:
    row = ElectionRow(kind="topic", name=at.topic, partition=at.partition, about=about(at))
    row.replicas, row.isr = partition.replicas, partition.isr
    row.old = row.new = None if partition.leader < 0 else partition.leader
    row.settle(None, unchanged=partition.leader >= 0 if unclean else is_preferred(partition))
    if row.is_open and unclean:
        row.new = next((node for node in partition.replicas if node not in partition.offline), None)
    elif row.is_open:
        row.new = partition.replicas[0] if partition.replicas else None
        row.note = why_not_preferred(partition) or None
    return row


async def _heard(cluster: Cluster, before: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    """Return the leaders that a broker now reports, if any does; it may learn of them a little later than the
    controller."""
    leaders: dict[TopicPartition, int] = {}

    async def heard() -> bool:
        nonlocal leaders
        try:
            topics = (await describe_topics(cluster, {at.topic for at in before})).values()
        except KcliError:  # they are elected anyway, as planned
            return True
        leaders = {
            at: partition.leader
            for topic in topics
            if isinstance(topic, Topic)
            for partition in topic.partitions
            if (at := TopicPartition(partition.topic, partition.partition)) in before and partition.leader >= 0
        }
        return all(leaders.get(at, leader) != leader for at, leader in before.items())

    if before:
        await repeat(heard, Backoff(PAUSE, PAUSE), asyncio.get_running_loop().time() + PATIENCE)
    return leaders
