"""DescribeConfigs 1-4. Topics, brokers and their loggers, groups, client metrics; 1 adds sources and synonyms, 3 types
and documentation (none is given)."""

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
from kcli.sandbox.access.rights import CONFIGURED
from kcli.sandbox.cluster.broker_configs import ALL, DYNAMIC_CONFIGS
from kcli.sandbox.cluster.configs import BROKER, BROKER_CONFIGS, CONTROL, STRING, TOPIC, TOPIC_CONFIGS
from kcli.sandbox.cluster.group_configs import GROUP, GROUP_CONFIGS
from kcli.sandbox.cluster.named_configs import CLIENT_METRICS, CLIENT_METRICS_CONFIGS, LOGGER, LOGGERS
from kcli.sandbox.wire.request_context import RequestContext

DYNAMIC_TOPIC, DYNAMIC_BROKER, DYNAMIC_ALL_BROKERS, STATIC_BROKER, DEFAULT = 1, 2, 3, 4, 5
DYNAMIC_LOGGER, DYNAMIC_CLIENT_METRICS, DYNAMIC_GROUP = 6, 7, 8


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
    wanted = asked.configuration_keys
    result.configs = [row for row in rows if wanted is None or row.name in wanted]
    for row in result.configs:
        row.synonyms = _synonyms(context, row) if request.include_synonyms else []
        row.documentation = None
    return result


def _synonyms(context: RequestContext, row: DescribeConfigsResourceResult) -> list[DescribeConfigsSynonym]:
    """The value, and what would hold without it."""
    chain = [DescribeConfigsSynonym(name=row.name, value=row.value, source=row.config_source)]
    if row.config_source == DYNAMIC_TOPIC:
        chain.append(DescribeConfigsSynonym(name=row.name, value=TOPIC_CONFIGS[row.name][1], source=DEFAULT))
    of_all = context.cluster.broker_configs.by_broker.get(ALL, {}).get(row.name)
    if row.config_source == DYNAMIC_BROKER and of_all:
        chain.append(DescribeConfigsSynonym(name=row.name, value=of_all, source=DYNAMIC_ALL_BROKERS))
    if row.config_source in (DYNAMIC_BROKER, DYNAMIC_ALL_BROKERS):
        chain.append(DescribeConfigsSynonym(name=row.name, value=DYNAMIC_CONFIGS[row.name][1], source=DEFAULT))
    return chain


def _rows(context: RequestContext, asked: DescribeConfigsResource) -> list[DescribeConfigsResourceResult]:
    rows_of = ROWS.get(asked.resource_type)
    if rows_of is None:
        message = f"no configuration of resource type {asked.resource_type} here"
        raise BrokerError(codes.INVALID_REQUEST, message=message)
    return rows_of(context, asked.resource_name)


def _topic(context: RequestContext, name: str) -> list[DescribeConfigsResourceResult]:
    topic = context.cluster.topics.by_name.get(name)
    if topic is None:
        raise BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION)
    return [
        DescribeConfigsResourceResult(
            name=key,
            value=topic.config(key),
            config_source=DYNAMIC_TOPIC if key in topic.configs else DEFAULT,
            config_type=kind,
        )
        for key, (kind, _) in TOPIC_CONFIGS.items()
    ]


def _broker(context: RequestContext, name: str) -> list[DescribeConfigsResourceResult]:
    if name not in {"", *(str(broker.node_id) for broker in context.cluster.brokers)}:
        raise BrokerError(codes.INVALID_REQUEST, message=f"unknown broker {name!r}")
    configs = {**BROKER_CONFIGS, **_given(context), **_control(context), **_authorizer(context)}
    return [
        DescribeConfigsResourceResult(
            name=key, value=value, read_only=True, config_source=STATIC_BROKER, config_type=kind
        )
        for key, (kind, value) in configs.items()
    ] + _throttles(context, name)


def _group(context: RequestContext, name: str) -> list[DescribeConfigsResourceResult]:
    configs = context.cluster.groups.configs
    own = configs.by_group.get(name, {})
    return [
        DescribeConfigsResourceResult(
            name=key,
            value=configs.value(name, key),
            config_type=kind,
            config_source=DYNAMIC_GROUP if key in own else DEFAULT,
        )
        for key, (kind, _) in GROUP_CONFIGS.items()
    ]


def _metrics(context: RequestContext, name: str) -> list[DescribeConfigsResourceResult]:
    if not name:
        raise BrokerError(codes.INVALID_REQUEST, message="Client metrics subscription name must not be empty")
    mine = context.cluster.named_configs.metrics.get(name, {})
    return [
        DescribeConfigsResourceResult(
            name=key,
            value=mine.get(key, default),
            config_type=kind,
            config_source=DYNAMIC_CLIENT_METRICS if key in mine else DEFAULT,
        )
        for key, (kind, default) in CLIENT_METRICS_CONFIGS.items()
    ]


def _loggers(context: RequestContext, name: str) -> list[DescribeConfigsResourceResult]:
    me = context.broker.node_id
    if name != str(me):
        raise BrokerError(codes.INVALID_REQUEST, message=f"Unexpected broker id, expected {me} but received {name}")
    return [
        DescribeConfigsResourceResult(
            name=logger,
            value=context.cluster.named_configs.level(me, logger),
            config_source=DYNAMIC_LOGGER,
            config_type=STRING,
        )
        for logger in LOGGERS
    ]


def _authorizer(context: RequestContext) -> dict[str, tuple[int, str]]:
    """The configs of the authorizer, where there is one. Kafka hides the values of the last two."""
    authorizer = context.cluster.access.authorizer
    if authorizer is None:
        return {}
    return {
        "authorizer.class.name": (STRING, "org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
        "super.users": (STRING, ";".join(authorizer.super_users)),
        "allow.everyone.if.no.acl.found": (STRING, str(authorizer.everyone).lower()),
    }


def _given(context: RequestContext) -> dict[str, tuple[int, str]]:
    """What whoever started the sandbox said."""
    cluster = context.cluster
    given = {
        "auto.create.topics.enable": str(cluster.settings.auto_create).lower(),
        "default.replication.factor": str(cluster.topics.copies(-1)),
        "group.initial.rebalance.delay.ms": str(round(cluster.settings.rebalance_delay * 1000)),
        "num.partitions": str(cluster.settings.partitions),
    }
    return {name: (BROKER_CONFIGS[name][0], value) for name, value in given.items()}


def _control(context: RequestContext) -> dict[str, tuple[int, str]]:
    """Where this sandbox takes faults, if it does."""
    control = context.cluster.control
    return {CONTROL: (STRING, control.address)} if control is not None else {}


def _throttles(context: RequestContext, broker: str) -> list[DescribeConfigsResourceResult]:
    """What can be set of a broker while it runs."""
    kept = context.cluster.broker_configs.by_broker
    rows = []
    for name, (kind, default) in DYNAMIC_CONFIGS.items():
        own, all_of_them = kept.get(broker, {}).get(name), kept.get(ALL, {}).get(name)
        source = DYNAMIC_BROKER if own and broker != ALL else DYNAMIC_ALL_BROKERS if all_of_them else DEFAULT
        rows.append(
            DescribeConfigsResourceResult(
                name=name, value=own or all_of_them or default, config_source=source, config_type=kind
            )
        )
    return rows


ROWS = {TOPIC: _topic, BROKER: _broker, GROUP: _group, CLIENT_METRICS: _metrics, LOGGER: _loggers}
"""What lists the configs of a resource, by the type of the resource."""
