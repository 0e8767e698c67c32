"""Replication throttles (KIP-73), set and cleared like Kafka's own tool does: broker rates, and the replicas of a topic
to which they apply.

A throttle remains until it is removed, even after its moves; then it slows down other replication. So every command
that ends moves looks for throttles in the cluster, instead of remembering them in a process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kcli.admin.configs import DELETE, SET, Operation, Resource, alter_configs, describe_configs
from kcli.admin.reassign.reassignments import Assignment, Ongoing
from kcli.errors import KcliError
from kcli.model import Cluster, TopicPartition
from kcli.values import Value, field

LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
DISK_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
OF_TOPICS = (LEADER_REPLICAS, FOLLOWER_REPLICAS)
OF_BROKERS = (LEADER_RATE, FOLLOWER_RATE, DISK_RATE)


class Move(Value):
    """The brokers from which a partition's new replicas are copied, and the new replicas."""

    sources: list[int] = field(factory=list)
    destinations: list[int] = field(factory=list)


def moves(
    proposed: Assignment, current: Assignment, ongoing: Mapping[TopicPartition, Ongoing]
) -> dict[TopicPartition, Move]:
    """Return what moves when `proposed` begins, including moves in progress."""
    moves = {at: Move(sources=ongoing.sources, destinations=list(ongoing.adding)) for at, ongoing in ongoing.items()}
    for at, brokers in proposed.items():
        sources = moves[at].sources if at in moves else current[at]
        moves[at] = Move(sources=sources, destinations=[broker for broker in brokers if broker not in sources])
    return moves


def wanted(some: Mapping[TopicPartition, Move], rate: int) -> dict[Resource, list[Operation]]:
    """Return the configs that limit these moves to `rate` bytes per second at every broker."""
    leaders: dict[str, list[str]] = {}
    followers: dict[str, list[str]] = {}
    brokers: set[int] = set()
    for at, move in sorted(some.items()):
        leaders.setdefault(at.topic, []).extend(f"{at.partition}:{node}" for node in sorted(move.sources))
        followers.setdefault(at.topic, []).extend(f"{at.partition}:{node}" for node in sorted(move.destinations))
        brokers.update(move.sources, move.destinations)
    changes = {
        Resource("topic", topic): [
            Operation(name=LEADER_REPLICAS, how=SET, value=",".join(leaders[topic])),
            Operation(name=FOLLOWER_REPLICAS, how=SET, value=",".join(followers[topic])),
        ]
        for topic in leaders
    }
    for node in sorted(brokers):
        changes[Resource("broker", str(node))] = rates(rate)
    return changes


def rates(rate: int) -> list[Operation]:
    """Return the two configs of a broker."""
    return [Operation(name=name, how=SET, value=str(rate)) for name in (LEADER_RATE, FOLLOWER_RATE)]


async def set_throttle(
    cluster: Cluster, changes: Mapping[Resource, Sequence[Operation]]
) -> dict[Resource, KcliError | None]:
    """Set throttles, topics first, so that no broker throttles replicas that are not listed. The result is None on
    success."""
    of_topics = {at: some for at, some in changes.items() if at.kind == "topic"}
    done = await alter_configs(cluster, of_topics) if of_topics else {}
    return done | await alter_configs(cluster, {at: some for at, some in changes.items() if at.kind != "topic"})


async def find_throttles(
    cluster: Cluster, topics: Iterable[str], brokers: Iterable[int]
) -> tuple[dict[Resource, dict[str, str]], dict[Resource, KcliError]]:
    """Return the throttle configs of these topics and brokers, and the errors of those that did not respond."""
    asked = {
        OF_TOPICS: [Resource("topic", name) for name in topics],
        OF_BROKERS: [Resource("broker", str(node)) for node in brokers],
    }
    overrides: dict[Resource, dict[str, str]] = {}
    failed: dict[Resource, KcliError] = {}
    for names, resources in asked.items():
        if not resources:
            continue
        for at, configs in (await describe_configs(cluster, resources, names=names)).items():
            if isinstance(configs, KcliError):
                failed[at] = configs
                continue
            own = {config.name: config.value for config in configs if config.value and config.source == at.kind}
            if own:
                overrides[at] = own
    return overrides, failed


async def clear_throttles(cluster: Cluster, some: Mapping[Resource, Iterable[str]]) -> dict[Resource, KcliError | None]:
    """Remove these configs. The result is None on success."""
    if not some:
        return {}
    changes = {at: [Operation(name=name, how=DELETE) for name in names] for at, names in some.items()}
    return await alter_configs(cluster, changes)
