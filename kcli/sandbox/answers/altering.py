"""What AlterConfigs and IncrementalAlterConfigs share: the configs of each resource, and where they are stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kcli import codes
from kcli.acls import CLUSTER
from kcli.errors import BrokerError
from kcli.rights import CONFIGURED
from kcli.sandbox.answers.describe_configs import given
from kcli.sandbox.cluster.topics import Topic
from kcli.sandbox.configs.definitions import (
    ABSENT,
    BROKER,
    CLIENT_METRICS,
    DELETE,
    GROUP,
    LOGGER,
    SET,
    SUBTRACT,
    TOPIC,
    Operation,
)
from kcli.sandbox.configs.topic_configs import altered
from kcli.sandbox.wire.request_context import RequestContext

BY_NAME = {TOPIC: "topic", GROUP: "group"}


def named_twice(resources: Iterable[tuple[int, str]]) -> set[tuple[int, str]]:
    """The resources (type, name) that a request has more than once: none of them is changed."""
    seen: set[tuple[int, str]] = set()
    return {resource for resource in resources if resource in seen or seen.add(resource)}  # type: ignore[func-returns-value] # it is None


def alter(
    context: RequestContext,
    api: int,
    twice: set[tuple[int, str]],
    resource: tuple[int, str],
    operations: Sequence[Operation],
    *,
    whole: bool,
    check_only: bool,
) -> tuple[int, str | None]:
    """Change a resource (type, name); returns error code and message. With `whole` configs that are not among the
    operations are removed."""
    kind, name = resource
    try:
        scripted = context.refused(api, name)
        if scripted is not None:
            raise BrokerError(scripted)
        if resource in twice:
            raise _wrong("Each resource must appear at most once.")
        if kind in CONFIGURED:
            of = CONFIGURED[kind]
            context.must("alter-configs", of, CLUSTER if of == "cluster" else name)
        _check(kind, name, operations, ABSENT.get(context.cluster.settings.kafka_version, frozenset()))
        if whole:
            if kind == LOGGER:
                raise _wrong(f"Unknown resource type {kind}")
            kept = {key for key, _, _ in operations}
            operations = [*(each for each in _deletions(context, kind, name) if each[0] not in kept), *operations]
        _change(context, kind, name, operations, check_only)
    except BrokerError as refused:
        return refused.code.number, str(refused)
    return 0, None


def _check(kind: int, name: str, operations: Sequence[Operation], absent: frozenset[str]) -> None:
    """What Kafka looks at before it looks the resource up; `absent` are names that it does not have. Raises
    BrokerError."""
    if kind in BY_NAME and not name:
        raise _wrong(f"Default {BY_NAME[kind]} resources are not allowed.")
    if any(not SET <= operation <= SUBTRACT for _, operation, _ in operations):
        raise _wrong("Unknown operation type") if kind == BROKER else BrokerError(codes.UNKNOWN_SERVER_ERROR)
    keys = [key for key, _, _ in operations]
    unknown = absent.intersection(keys) if kind in BY_NAME else ()
    if unknown:
        raise BrokerError(codes.INVALID_CONFIG, message=f"Unknown {BY_NAME[kind]} config name: {min(unknown)}")
    if len(set(keys)) < len(keys):
        raise _wrong("Error due to duplicate config keys")
    empty = [key for key, operation, value in operations if value is None and operation != DELETE]
    if empty:
        raise _wrong(f"Null value not supported for : {', '.join(empty)}")


def _deletions(context: RequestContext, kind: int, name: str) -> list[Operation]:
    """What is set, as operations that delete it."""
    cluster = context.cluster
    kept: Iterable[str] = ()
    if kind == TOPIC:
        kept = _topic(context, name).configs
    elif kind == BROKER:
        kept = cluster.broker_configs.by_broker.get(name, ())
    elif kind == CLIENT_METRICS:
        kept = cluster.named_configs.metrics.get(name, ())
    elif kind == GROUP:
        kept = cluster.groups.configs.by_group.get(name, ())
    return [(key, DELETE, None) for key in kept]


def _change(context: RequestContext, kind: int, name: str, operations: Sequence[Operation], check_only: bool) -> None:
    """Raises BrokerError; then nothing was changed."""
    cluster = context.cluster
    if kind == TOPIC:
        topic = _topic(context, name)
        kept = altered(topic.configs, operations)
        if not check_only:
            cluster.topics.configure(topic, kept)
    elif kind == GROUP:
        kept = cluster.groups.configs.altered(name, operations)
        if not check_only:
            cluster.groups.configure(name, kept)
    elif kind == BROKER:
        if name:
            _of_this_broker(context, name)
        kept = cluster.broker_configs.altered(name, operations)
        _check_places(context, kept)
        if not check_only:
            cluster.journal.note("broker configs", {"broker": name, "configs": kept})
            cluster.broker_configs.by_broker[name] = kept
    elif kind == CLIENT_METRICS:
        kept = cluster.named_configs.metrics_altered(name, operations)
        if not check_only:
            cluster.journal.note("client metrics", {"name": name, "configs": kept})
            cluster.named_configs.metrics[name] = kept
    elif kind == LOGGER:
        _of_this_broker(context, name)
        levels = cluster.named_configs.loggers_altered(context.broker.node_id, operations)
        if not check_only:
            cluster.named_configs.loggers[context.broker.node_id] = levels
    else:
        raise _wrong(f"Unknown resource type {kind}")


def _topic(context: RequestContext, name: str) -> Topic:
    topic = context.cluster.topics.by_name.get(name)
    if topic is None:
        context.cluster.topics.check_name(name)
        raise BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION)
    return topic


def _check_places(context: RequestContext, configs: Mapping[str, str]) -> None:
    """Raises BrokerError INVALID_REQUEST for directories and listeners that the broker does not have."""
    own = given(context.cluster, context.broker)
    cordoned = [part.strip() for part in configs.get("cordoned.log.dirs", "").split(",") if part]
    if cordoned != ["*"] and not set(cordoned) <= set(own["log.dirs"].split(",")):
        raise _wrong("All entries in cordoned.log.dirs must be present in log.dirs.")
    if "listeners" in configs:
        here, *_ = own["listeners"].split("://")
        if here not in [part.strip().split("://")[0] for part in configs["listeners"].split(",")]:
            raise _wrong(f"The listeners have to include {here}, which clients use.")


def _of_this_broker(context: RequestContext, name: str) -> None:
    me = context.broker.node_id
    if name != str(me):
        raise _wrong(f"Unexpected broker id, expected {me}, but received {name}")


def _wrong(words: str) -> BrokerError:
    return BrokerError(codes.INVALID_REQUEST, message=words)
