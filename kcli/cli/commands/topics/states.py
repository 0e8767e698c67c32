"""`topics list --under-replicated …`: topics in a state, as Kafka's own kafka-topics means it; and unused ones."""

from __future__ import annotations

import time

from kcli.admin.configs import min_isr
from kcli.admin.reassign.reassignments import list_reassignments
from kcli.admin.topics.stats import last_writes
from kcli.asking.fan_out import good
from kcli.asking.offsets import EARLIEST, LATEST, list_offsets
from kcli.errors import KcliError
from kcli.grammar.durations import seconds
from kcli.lag.snapshot import take
from kcli.model import TopicPartition
from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.admin.topics.topics import Partition, Topic
    from kcli.cli.commands.topics.state_options import StateOptions
    from kcli.model import Cluster


class States(Value):
    """How many partitions of a topic are in each state; None where it was not asked for."""

    under_replicated: int = 0
    unavailable: int = 0
    at_min_isr: int | None = None
    under_min_isr: int | None = None
    unused: bool = False
    never_written: bool = False


async def states_of(cluster: Cluster, topics: dict[str, Topic], options: StateOptions) -> dict[str, States]:
    """The states of each topic that are asked for. Raises KcliError where they cannot be known."""
    live = {node.id for node in await cluster.nodes()}
    added = await _added(cluster) if options.under_replicated else {}
    least = await _min_isr(cluster, topics) if options.at_min_isr or options.under_min_isr else {}
    length = seconds(options.unused, "--unused", None)
    unread = await _unread(cluster, topics) if length is not None or options.never_written else {}
    unused = set() if length is None else await _unused(cluster, unread, length)
    never = await _without(cluster, unread, never=True)
    states: dict[str, States] = {}
    for name, topic in topics.items():
        state = states[name] = States(unused=name in unused - never, never_written=name in never)
        state.under_replicated = sum(_under_replicated(part, added) for part in topic.partitions)
        state.unavailable = sum(part.leader not in live for part in topic.partitions)
        if name in least:
            state.at_min_isr = sum(len(part.isr) == least[name] for part in topic.partitions)
            state.under_min_isr = sum(part.leader < 0 or len(part.isr) < least[name] for part in topic.partitions)
    return states


def listed(state: States, options: StateOptions) -> bool:
    """Is a topic in one of the states that are asked for?"""
    return bool(
        (options.under_replicated and state.under_replicated)
        or (options.unavailable and state.unavailable)
        or (options.at_min_isr and state.at_min_isr)
        or (options.under_min_isr and state.under_min_isr)
        or state.unused
        or (options.never_written and state.never_written)
    )


def _under_replicated(partition: Partition, added: dict[TopicPartition, int]) -> bool:
    """Replicas that a reassignment adds are not missed before they are in sync."""
    coming = added.get(TopicPartition(partition.topic, partition.partition), 0)
    return len(partition.isr) < len(partition.replicas) - coming


async def _added(cluster: Cluster) -> dict[TopicPartition, int]:
    """How many replicas a reassignment adds to each partition that moves; none where the cluster does not report."""
    try:
        ongoing = await list_reassignments(cluster)
    except KcliError:
        return {}
    return {at: len(move.adding) for at, move in ongoing.items()}


async def _min_isr(cluster: Cluster, topics: dict[str, Topic]) -> dict[str, int]:
    """min.insync.replicas of each topic. Raises KcliError where one is not known."""
    least: dict[str, int] = {}
    for name, number in (await min_isr(cluster, topics)).items():
        if isinstance(number, KcliError):
            raise number
        least[name] = number
    return least


async def _unread(cluster: Cluster, topics: dict[str, Topic]) -> dict[str, Topic]:
    """Topics of which no group has committed or owns anything. Raises KcliError where a group could not be read: its
    topics would look unused."""
    shot = await take(cluster)
    for about, error in [*shot.failed.items(), *shot.brokers.items()]:
        raise KcliError(f"not all groups could be read: {about}: {error}")
    read = {sample.topic for group in shot.groups for sample in group.samples}
    return {name: topic for name, topic in topics.items() if name not in read}


async def _unused(cluster: Cluster, topics: dict[str, Topic], length: float) -> set[str]:
    """Topics that are empty, or whose newest record is older than `length` seconds."""
    written = await last_writes(cluster, list(topics.values()))
    before = time.time() - length
    old = {name for name, moment in written.items() if moment <= before}
    return old | await _without(cluster, {name: topic for name, topic in topics.items() if name not in written})


async def _without(cluster: Cluster, topics: dict[str, Topic], *, never: bool = False) -> set[str]:
    """The topics that have no record, or that `never` had one: those may have been created just now, for a cluster
    does not report when. (Brokers before 3.0 do not report the newest record of other topics.)"""
    parts = [TopicPartition(topic.topic, part.partition) for topic in topics.values() for part in topic.partitions]
    starts = good(await list_offsets(cluster, dict.fromkeys(parts, EARLIEST)))
    ends = good(await list_offsets(cluster, dict.fromkeys(parts, LATEST)))
    filled = {
        at.topic
        for at in parts
        if at not in starts or at not in ends or (0 if never else starts[at].offset) < ends[at].offset
    }
    return topics.keys() - filled
