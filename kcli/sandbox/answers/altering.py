"""What AlterConfigs and IncrementalAlterConfigs share: what a resource may be told, and who keeps it."""

from __future__ import annotations

from kcli import codes
from kcli.acls import CLUSTER
from kcli.errors import BrokerError
from kcli.sandbox.access.rights import CONFIGURED
from kcli.sandbox.cluster.configs import BROKER, DELETE, TOPIC, altered
from kcli.sandbox.cluster.group_configs import GROUP
from kcli.sandbox.cluster.named_configs import CLIENT_METRICS, LOGGER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kcli.sandbox.cluster.topics import Topic
    from kcli.sandbox.wire.broker import Call

    Operation = tuple[str, int, str | None]

BY_NAME = {TOPIC: "topic", GROUP: "group"}


def named_twice(resources: Iterable[tuple[int, str]]) -> set[tuple[int, str]]:
    """The resources (type, name) that a request has more than once: none of them is changed."""
    seen: set[tuple[int, str]] = set()
    return {one for one in resources if one in seen or seen.add(one)}  # type: ignore[func-returns-value] # it is None


def alter(
    call: Call, api: int, twice: set[tuple[int, str]], resource: tuple[int, str], operations: Sequence[Operation], *,
    whole: bool, check_only: bool,
) -> tuple[int, str | None]:  # fmt: skip
    """Change a resource (type, name), and say how it went: error code and words. With `whole` what is not in the
    operations is deleted."""
    kind, name = resource
    try:
        scripted = call.refused(api, name)
        if scripted is not None:
            raise BrokerError(scripted)
        if resource in twice:
            raise _wrong("Each resource must appear at most once.")
        if kind in CONFIGURED:
            of = CONFIGURED[kind]
            call.must("alter-configs", of, CLUSTER if of == "cluster" else name)
        _check(kind, name, operations)
        if whole:
            if kind == LOGGER:
                raise _wrong(f"Unknown resource type {kind}")
            operations = [*_deletions(call, kind, name), *operations]
        _change(call, kind, name, operations, check_only)
    except BrokerError as refused:
        return refused.code.number, str(refused)
    return 0, None


def _check(kind: int, name: str, operations: Sequence[Operation]) -> None:
    """What Kafka looks at before it looks the resource up. Raises BrokerError."""
    if kind in BY_NAME and not name:
        raise _wrong(f"Default {BY_NAME[kind]} resources are not allowed.")
    keys = [key for key, _, _ in operations]
    if len(set(keys)) < len(keys):
        raise _wrong("Error due to duplicate config keys")
    empty = [key for key, operation, value in operations if value is None and operation != DELETE]
    if empty:
        raise _wrong(f"Null value not supported for : {', '.join(empty)}")


def _deletions(call: Call, kind: int, name: str) -> list[Operation]:
    """What is set, as operations that delete it."""
    sandbox = call.sandbox
    kept: Iterable[str] = ()
    if kind == TOPIC:
        kept = _topic(call, name).configs
    elif kind == BROKER:
        kept = sandbox.broker_configs.by_broker.get(name, ())
    elif kind == CLIENT_METRICS:
        kept = sandbox.named_configs.metrics.get(name, ())
    elif kind == GROUP:
        kept = sandbox.groups.configs.by_group.get(name, ())
    return [(key, DELETE, None) for key in kept]


def _change(call: Call, kind: int, name: str, operations: Sequence[Operation], check_only: bool) -> None:
    """Raises BrokerError; then nothing was changed."""
    sandbox = call.sandbox
    if kind == TOPIC:
        topic = _topic(call, name)
        kept = altered(topic.configs, operations)
        if not check_only:
            sandbox.topics.configure(topic, kept)
    elif kind == GROUP:
        kept = sandbox.groups.configs.altered(name, operations)
        if not check_only:
            sandbox.groups.configure(name, kept)
    elif kind == BROKER:
        if name:
            _of_this_broker(call, name)
        kept = sandbox.broker_configs.altered(name, operations)
        if not check_only:
            sandbox.note("broker configs", {"broker": name, "configs": kept})
            sandbox.broker_configs.by_broker[name] = kept
    elif kind == CLIENT_METRICS:
        kept = sandbox.named_configs.metrics_altered(name, operations)
        if not check_only:
            sandbox.note("client metrics", {"name": name, "configs": kept})
            sandbox.named_configs.metrics[name] = kept
    elif kind == LOGGER:
        _of_this_broker(call, name)
        levels = sandbox.named_configs.loggers_altered(call.broker.node_id, operations)
        if not check_only:
            sandbox.named_configs.loggers[call.broker.node_id] = levels
    else:
        raise _wrong(f"Unknown resource type {kind}")


def _topic(call: Call, name: str) -> Topic:
    topic = call.sandbox.topics.by_name.get(name)
    if topic is None:
        call.sandbox.topics.check_name(name)
        raise BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION)
    return topic


def _of_this_broker(call: Call, name: str) -> None:
    me = call.broker.node_id
    if name != str(me):
        raise _wrong(f"Unexpected broker id, expected {me}, but received {name}")


def _wrong(words: str) -> BrokerError:
    return BrokerError(codes.INVALID_REQUEST, message=words)
