"""DescribeConfigs 1-4. Topics, brokers and their loggers, groups, client metrics; 1 adds sources and synonyms, 3 types
and documentation. A config's synonyms are all values that there are for it, the first of them counts."""

from __future__ import annotations

from kcli import codes
from kcli.acls import CLUSTER
from kcli.errors import BrokerError
from kcli.proto.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kcli.rights import CONFIGURED
from kcli.sandbox.cluster.cluster import SandboxCluster
from kcli.sandbox.configs.broker_configs import ALL, THROTTLE, THROTTLES, names
from kcli.sandbox.configs.definitions import (
    ABSENT,
    BROKER,
    CLIENT_METRICS,
    GROUP,
    LOGGER,
    STRING,
    TOPIC,
    UNKNOWN,
    Definition,
)
from kcli.sandbox.configs.named_configs import CLIENT_METRICS_CONFIGS, GROUP_CONFIGS, LOGGERS
from kcli.sandbox.configs.topic_configs import TOPIC_CONFIGS
from kcli.sandbox.faults.control_client import CONTROL
from kcli.sandbox.wire.broker import SandboxBroker
from kcli.sandbox.wire.request_context import ANONYMOUS, RequestContext

DYNAMIC_TOPIC, DYNAMIC_BROKER, DYNAMIC_ALL_BROKERS, STATIC_BROKER, DEFAULT = 1, 2, 3, 4, 5
DYNAMIC_LOGGER, DYNAMIC_CLIENT_METRICS, DYNAMIC_GROUP = 6, 7, 8
DOCUMENTED = 3  # the first version with documentation

Row = DescribeConfigsResourceResult
Synonym = DescribeConfigsSynonym
INTERVALS = ("consumer.heartbeat.interval.ms", "share.heartbeat.interval.ms")
SHORTEST = (*INTERVALS, "consumer.session.timeout.ms", "share.session.timeout.ms", "share.record.lock.duration.ms")


async def answer(context: RequestContext, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(results=[_one(context, request, resource) for resource in request.resources])


def _one(
    context: RequestContext, request: DescribeConfigsRequest, asked: DescribeConfigsResource
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(
        resource_type=asked.resource_type, resource_name=asked.resource_name, error_message=None
    )
    try:
        scripted = context.refused(32, asked.resource_name)
        if scripted is not None:
            raise BrokerError(scripted)
        if asked.resource_type in CONFIGURED:
            kind = CONFIGURED[asked.resource_type]
            context.must("describe-configs", kind, CLUSTER if kind == "cluster" else asked.resource_name)
        rows = _rows(context, asked)
    except BrokerError as refused:
        result.error_code, result.error_message = refused.code.number, str(refused)
        return result
    absent = ABSENT.get(context.cluster.settings.kafka_version, frozenset())
    rows = [row for row in rows if row.name not in absent]
    result.configs = [row for row in rows if not asked.configuration_keys or row.name in asked.configuration_keys]
    for row in result.configs:
        if not request.include_synonyms:
            row.synonyms = []
        if row.documentation and (not request.include_documentation or context.version < DOCUMENTED):
            row.documentation = None
    return result


def _rows(context: RequestContext, asked: DescribeConfigsResource) -> list[Row]:
    rows_of = ROWS.get(asked.resource_type)
    if rows_of is None:
        message = f"no configuration of resource type {asked.resource_type} here"
        raise BrokerError(codes.INVALID_REQUEST, message=message)
    return rows_of(context, asked.resource_name)


def _row(name: str, definition: Definition, synonyms: list[Synonym], *, sensitive: bool = False) -> Row:
    """A config with what its first synonym says; a sensitive one keeps its value to itself."""
    value, source = (synonyms[0].value, synonyms[0].source) if synonyms else (None, DEFAULT)
    if sensitive:
        value, synonyms = None, [Synonym(name=each.name, value=None, source=each.source) for each in synonyms]
    return Row(
        name=name,
        value=value,
        config_source=source,
        config_type=definition.kind,
        is_sensitive=sensitive,
        synonyms=synonyms,
        documentation=definition.words or None,
    )


def _topic(context: RequestContext, name: str) -> list[Row]:
    topic = context.cluster.topics.by_name.get(name)
    if topic is None:
        context.cluster.topics.check_name(name)
        raise BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION)
    rows = []
    for key, definition in TOPIC_CONFIGS.items():
        synonyms = _values(context, str(context.broker.node_id), definition.broker) if definition.broker else []
        if key in topic.configs:
            synonyms.insert(0, Synonym(name=key, value=topic.configs[key], source=DYNAMIC_TOPIC))
        row = _row(key, definition, synonyms)
        row.value = topic.config(key)
        rows.append(row)
    return rows


def _values(context: RequestContext, broker: str, name: str) -> list[Synonym]:
    """All values of a broker's config, the one in force first."""
    kept = context.cluster.broker_configs.by_broker
    if broker == ALL:
        return [Synonym(name=name, value=kept[ALL][name], source=DYNAMIC_ALL_BROKERS)]
    known = names().get(name)
    values = [
        (kept.get(broker, {}).get(name), DYNAMIC_BROKER),
        (kept[ALL].get(name), DYNAMIC_ALL_BROKERS),
        (given(context.cluster, context.broker).get(name), STATIC_BROKER),
        (known.definition.default if known is not None and known.has_default else None, DEFAULT),
    ]
    return [Synonym(name=name, value=value, source=source) for value, source in values if value is not None]


def _broker(context: RequestContext, name: str) -> list[Row]:
    kept = context.cluster.broker_configs.by_broker
    if name == ALL:
        return [_broker_row(context, name, key) for key in kept[ALL]]
    me = context.broker.node_id
    if name != str(me):
        raise BrokerError(codes.INVALID_REQUEST, message=f"Unexpected broker id, expected {me} but received {name}")
    keys = dict.fromkeys((*names(), *given(context.cluster, context.broker), *kept[ALL], *kept.get(name, ())))
    return [_broker_row(context, name, key) for key in keys]


def _broker_row(context: RequestContext, broker: str, name: str) -> Row:
    known = names().get(name)
    if known is not None:
        row = _row(name, known.definition, _values(context, broker, name), sensitive=known.sensitive)
        row.read_only = known.read_only
        return row
    set_at_start = name in given(context.cluster, context.broker)
    definition = THROTTLE if name in THROTTLES else Definition(STRING if set_at_start else UNKNOWN, "")
    row = _row(name, definition, _values(context, broker, name), sensitive=definition.kind == UNKNOWN)
    row.read_only = set_at_start
    return row


def _group(context: RequestContext, name: str) -> list[Row]:
    if not name:
        raise BrokerError(codes.INVALID_REQUEST, message="Group name must not be empty")
    own = context.cluster.groups.configs.by_group.get(name, {})
    rows = []
    for key, definition in GROUP_CONFIGS.items():
        broker = definition.broker
        synonyms = _values(context, str(context.broker.node_id), broker) if broker else []
        if not synonyms:
            synonyms = [Synonym(name=key, value=definition.default, source=DEFAULT)]
        if key in own:
            synonyms.insert(0, Synonym(name=key, value=own[key], source=DYNAMIC_GROUP))
        rows.append(_row(key, definition, synonyms))
    return rows


def _metrics(context: RequestContext, name: str) -> list[Row]:
    if not name:
        raise BrokerError(codes.INVALID_REQUEST, message="Client metrics subscription name must not be empty")
    mine = context.cluster.named_configs.metrics.get(name, {})
    rows = []
    for key, definition in CLIENT_METRICS_CONFIGS.items():
        row = _row(key, definition, [])
        row.value = mine.get(key, definition.default)
        if key in mine:
            row.config_source = DYNAMIC_CLIENT_METRICS
            row.synonyms = [Synonym(name=key, value=mine[key], source=DYNAMIC_CLIENT_METRICS)]
        rows.append(row)
    return rows


def _loggers(context: RequestContext, name: str) -> list[Row]:
    me = context.broker.node_id
    if name != str(me):
        raise BrokerError(codes.INVALID_REQUEST, message=f"Unexpected broker id, expected {me} but received {name}")
    levels = {logger: context.cluster.named_configs.level(me, logger) for logger in LOGGERS}
    return [
        Row(name=logger, value=level, config_source=DYNAMIC_LOGGER, config_type=UNKNOWN, documentation="")
        for logger, level in levels.items()
    ]


ROWS = {TOPIC: _topic, BROKER: _broker, GROUP: _group, CLIENT_METRICS: _metrics, LOGGER: _loggers}
"""What lists the configs of a resource, by the type of the resource."""


def given(cluster: SandboxCluster, broker: SandboxBroker) -> dict[str, str]:
    """By name, the values of this broker."""
    settings = cluster.settings
    protocol = ("SASL_" if settings.sasl is not None else "") + ("SSL" if settings.tls is not None else "PLAINTEXT")
    copies = str(cluster.topics.copies(-1))
    values = {
        "advertised.listeners": f"{protocol}://{settings.advertised_host}:{broker.port}",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "auto.create.topics.enable": str(settings.auto_create).lower(),
        "broker.id": str(broker.node_id),
        "default.replication.factor": copies,
        "group.initial.rebalance.delay.ms": str(round(settings.rebalance_delay * 1000)),
        "group.min.session.timeout.ms": "1",
        "listeners": f"{protocol}://{settings.host}:{broker.port}",
        "log.dirs": ",".join(settings.directories(broker.node_id)),
        "node.id": str(broker.node_id),
        "num.partitions": str(settings.partitions),
        "offsets.topic.replication.factor": copies,
        "process.roles": "broker,controller",
        "share.coordinator.state.topic.min.isr": "1",
        "share.coordinator.state.topic.replication.factor": copies,
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.replication.factor": copies,
    }
    for name in INTERVALS:
        values[GROUP_CONFIGS[name].broker] = GROUP_CONFIGS[name].default
    for name in SHORTEST:
        kind, _, rest = name.partition(".")
        values[f"group.{kind}.min.{rest}"] = str(GROUP_CONFIGS[name].low)
    if settings.migration_policy != "bidirectional":
        values["group.consumer.migration.policy"] = settings.migration_policy
    if broker.rack is not None:
        values["broker.rack"] = broker.rack
    authorizer = cluster.access.authorizer
    everybody = [ANONYMOUS, *(f"User:{name}" for name in settings.sasl or ())]
    values["super.users"] = ";".join(everybody if authorizer is None else authorizer.super_users)
    if authorizer is not None and authorizer.everyone:
        values["allow.everyone.if.no.acl.found"] = "true"
    if cluster.control is not None:
        values[CONTROL] = cluster.control.address
    return values
