"""ListConfigResources 0-1: what has configs, by kind; 0 asks for client metrics only."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from kcli.sandbox.configs.definitions import BROKER, CLIENT_METRICS, GROUP, LOGGER, TOPIC
from kcli.sandbox.wire.request_context import RequestContext

KINDS = (TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP)


async def answer(context: RequestContext, request: ListConfigResourcesRequest) -> ListConfigResourcesResponse:
    scripted = context.refused(74)
    if scripted is not None:
        return ListConfigResourcesResponse(error_code=scripted.number)
    wanted = [CLIENT_METRICS] if context.version == 0 else request.resource_types or list(KINDS)
    if not set(wanted) <= set(KINDS):
        return ListConfigResourcesResponse(error_code=codes.UNSUPPORTED_VERSION.number)
    brokers = [str(broker.node_id) for broker in context.cluster.brokers]
    names = {
        TOPIC: sorted(context.cluster.topics.by_name),
        BROKER: brokers,
        LOGGER: brokers,
        CLIENT_METRICS: sorted(name for name, kept in context.cluster.named_configs.metrics.items() if kept),
        GROUP: sorted(name for name, kept in context.cluster.groups.configs.by_group.items() if kept),
    }
    rows = [
        ConfigResource(resource_name=name, resource_type=kind)
        for kind in KINDS
        if kind in wanted
        for name in names[kind]
    ]
    return ListConfigResourcesResponse(config_resources=rows)
