"""ListConfigResources 0-1: what has configs, by kind; 0 asks for client metrics only."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from kcli.sandbox.cluster.configs import BROKER, TOPIC
from kcli.sandbox.cluster.group_configs import GROUP
from kcli.sandbox.cluster.named_configs import CLIENT_METRICS, LOGGER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.wire.broker import Call

KINDS = (TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP)


async def answer(call: Call, request: ListConfigResourcesRequest) -> ListConfigResourcesResponse:
    scripted = call.refused(74)
    if scripted is not None:
        return ListConfigResourcesResponse(error_code=scripted.number)
    wanted = [CLIENT_METRICS] if call.version == 0 else request.resource_types or list(KINDS)
    if not set(wanted) <= set(KINDS):
        return ListConfigResourcesResponse(error_code=codes.UNSUPPORTED_VERSION.number)
    brokers = [str(one.node_id) for one in call.sandbox.brokers]
    names = {
        TOPIC: sorted(call.sandbox.topics.by_name), BROKER: brokers, LOGGER: brokers,
        CLIENT_METRICS: sorted(name for name, kept in call.sandbox.named_configs.metrics.items() if kept),
        GROUP: sorted(name for name, kept in call.sandbox.groups.configs.by_group.items() if kept),
    }  # fmt: skip
    rows = [ConfigResource(resource_name=name, resource_type=kind) for kind in KINDS if kind in wanted
            for name in names[kind]]  # fmt: skip
    return ListConfigResourcesResponse(config_resources=rows)
