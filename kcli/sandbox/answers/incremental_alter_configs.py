"""IncrementalAlterConfigs 0-1. Topics, groups, client metrics, brokers and their loggers."""

from __future__ import annotations

from kcli import codes
from kcli.acls import CLUSTER
from kcli.errors import BrokerError
from kcli.proto.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kcli.sandbox.configs import BROKER, TOPIC, altered
from kcli.sandbox.group_configs import GROUP
from kcli.sandbox.named_configs import CLIENT_METRICS, LOGGER
from kcli.sandbox.rights import CONFIGURED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.broker import Call


async def answer(call: Call, request: IncrementalAlterConfigsRequest) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        responses=[_one(call, one, request.validate_only) for one in request.resources]
    )


def _one(call: Call, asked: AlterConfigsResource, check_only: bool) -> AlterConfigsResourceResponse:
    row = AlterConfigsResourceResponse(
        resource_type=asked.resource_type, resource_name=asked.resource_name, error_message=None
    )  # fmt: skip
    try:
        scripted = call.refused(44, asked.resource_name)
        if scripted is not None:
            raise BrokerError(scripted)
        if asked.resource_type in CONFIGURED:
            kind = CONFIGURED[asked.resource_type]
            call.must("alter-configs", kind, CLUSTER if kind == "cluster" else asked.resource_name)
        if asked.resource_type == GROUP:
            groups = call.sandbox.groups
            operations = [(one.name, one.config_operation, one.value) for one in asked.configs]
            kept = groups.configs.altered(asked.resource_name, operations)
            if not check_only:
                groups.configure(asked.resource_name, kept)
            return row
        if asked.resource_type == BROKER:
            _configure_broker(call, asked, check_only)
            return row
        if asked.resource_type in (CLIENT_METRICS, LOGGER):
            _configure_named(call, asked, check_only)
            return row
        if asked.resource_type != TOPIC:
            raise BrokerError(codes.INVALID_REQUEST, message=f"Unexpected resource type {asked.resource_type}.")
        topic = call.sandbox.topics.by_name.get(asked.resource_name)
        if topic is None:
            raise BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION)
        configs = altered(topic.configs, [(one.name, one.config_operation, one.value) for one in asked.configs])
        if not check_only:
            call.sandbox.topics.configure(topic, configs)
    except BrokerError as refused:
        row.error_code, row.error_message = refused.code.number, str(refused)
    return row


def _configure_broker(call: Call, asked: AlterConfigsResource, check_only: bool) -> None:
    name, sandbox = asked.resource_name, call.sandbox
    if name not in ("", str(call.broker.node_id)):
        raise BrokerError(
            codes.INVALID_REQUEST, message=f"Unexpected broker id, expected {call.broker.node_id}, but received {name}"
        )
    kept = sandbox.broker_configs.altered(name, [(one.name, one.config_operation, one.value) for one in asked.configs])
    if not check_only:
        sandbox.note("broker configs", {"broker": name, "configs": kept})
        sandbox.broker_configs.by_broker[name] = kept


def _configure_named(call: Call, asked: AlterConfigsResource, check_only: bool) -> None:
    """A subscription of client metrics, or the loggers of this broker."""
    name, sandbox, me = asked.resource_name, call.sandbox, call.broker.node_id
    operations = [(one.name, one.config_operation, one.value) for one in asked.configs]
    if asked.resource_type == CLIENT_METRICS:
        kept = sandbox.named_configs.metrics_altered(name, operations)
        if not check_only:
            sandbox.note("client metrics", {"name": name, "configs": kept})
            sandbox.named_configs.metrics[name] = kept
        return
    if name != str(me):
        raise BrokerError(codes.INVALID_REQUEST, message=f"Unexpected broker id, expected {me} but received {name}")
    levels = sandbox.named_configs.loggers_altered(me, operations)
    if not check_only:
        sandbox.named_configs.loggers[me] = levels
