"""The dead-letter queue of a share group (KIP-1191): the topic that is allowed to be one, and the group's configs that
name it."""

from __future__ import annotations

from kcli.admin.cluster.quorum import features
from kcli.admin.configs import Resource, describe_configs
from kcli.admin.groups.groups import find_groups
from kcli.admin.groups.rows import Described
from kcli.asking.coordinators import Coordinators
from kcli.changes.declared.plan import ClusterPlan
from kcli.declared.model import Declared, Setting, Settings, Topic
from kcli.errors import KcliError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import Cluster

ENABLED = "errors.deadletterqueue.group.enable"
"""Topic config: whether groups may write dead letters to it."""
QUEUE, COPIES = "errors.deadletterqueue.topic.name", "errors.deadletterqueue.copy.record.enable"
"""Group configs: the topic, and whether dead letters include key and value of the record."""
PREFIX = "errors.deadletterqueue.topic.name.prefix"
"""Broker config: prefix of the names of such topics."""
FEATURE, LEVEL = "share.version", 2


async def plan(
    cluster: Cluster,
    group: str,
    topic: str | None,
    *,
    partitions: int | None = None,
    replication: int | None = None,
    copies: bool | None = None,
) -> ClusterPlan:
    """Return the plan that sets up a queue: the topic is created, or enabled as a queue, and the group gets its
    configs.

    `topic` None means the cluster's prefix and the group's name; `copies` None leaves that config unchanged. Raises
    KcliError if the cluster does not support such queues, or `group` is not a share group.
    """
    prefix = await _prefix(cluster, group)
    name = f"{prefix}{group}" if topic is None else topic
    if not name.startswith(prefix):
        raise UsageError(
            f"{name}: this cluster accepts only topics that begin with {prefix} as dead-letter queues ({PREFIX})"
        )
    values = {QUEUE: name} | ({} if copies is None else {COPIES: str(copies).lower()})
    declared = Declared(
        topics={name: Topic(partitions=partitions, replication=replication, settings=_settings({ENABLED: "true"}))},
        configs={Resource("group", group): _settings(values)},
    )
    return await _prepared(cluster, declared)


async def plan_off(cluster: Cluster, group: str) -> ClusterPlan:
    """Return the plan that disables a group's queue. The topic is not changed."""
    await _prefix(cluster, group)
    settings = Settings(inherit={QUEUE: "", COPIES: ""})
    return await _prepared(cluster, Declared(configs={Resource("group", group): settings}))


async def _prepared(cluster: Cluster, declared: Declared) -> ClusterPlan:
    made = ClusterPlan(cluster=cluster, declared=declared)
    await made.prepare(keep_going=False, wait=True)
    return made


def _settings(values: dict[str, str]) -> Settings:
    return Settings(values={name: Setting(value=value) for name, value in values.items()})


async def _prefix(cluster: Cluster, group: str) -> str:
    """Return the prefix of queue names. Raises KcliError if they are not supported, and for a group of another type."""
    level = next((one.level for one in await features(cluster) if one.name == FEATURE), None) or 0
    if level < LEVEL:
        raise KcliError(
            f"dead-letter queues need {FEATURE} {LEVEL} (Kafka 4.4 or newer); the level of this cluster is {level}"
        ).hinted("upgrade-feature", feature=FEATURE, level=LEVEL)
    found = (await find_groups(Coordinators(cluster), [group]))[0][group]
    if isinstance(found, Described) and found.type != "share":
        raise KcliError(f"{group}: this is a {found.type} group; only share groups have dead-letter queues")
    (node, *_) = await cluster.nodes()
    at = Resource("broker", str(node.id))
    configs = (await describe_configs(cluster, [at], names=[PREFIX]))[at]
    if isinstance(configs, KcliError):
        return ""  # without permission to read it, the broker checks
    return next((config.value or "" for config in configs if config.name == PREFIX), "")
