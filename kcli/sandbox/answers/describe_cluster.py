"""DescribeCluster 0-2. 1 adds the endpoint type (controllers have none here), 2 fenced brokers: those that are down."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kcli.sandbox.access.authorized import operations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.wire.broker import Call

BROKERS = 1


async def answer(call: Call, request: DescribeClusterRequest) -> DescribeClusterResponse:
    code = call.refused(60)
    if code is None and request.endpoint_type != BROKERS:
        code = codes.MISMATCHED_ENDPOINT_TYPE
    if code is not None:
        return DescribeClusterResponse(error_code=code.number, error_message=code.text)
    sandbox = call.sandbox
    fenced = sandbox.fenced() if request.include_fenced_brokers else []
    return DescribeClusterResponse(
        cluster_id=sandbox.cluster_id,
        controller_id=sandbox.controller_id,
        cluster_authorized_operations=operations(call, "cluster", wanted=request.include_cluster_authorized_operations),
        brokers=[
            DescribeClusterBroker(
                broker_id=one.node_id,
                host=sandbox.settings.advertised_host,
                port=one.port,
                rack=sandbox.rack(one.node_id),
            )
            for one in sandbox.living()
        ]
        + [
            DescribeClusterBroker(
                broker_id=one.node_id,
                host=sandbox.settings.advertised_host,
                port=one.port,
                rack=sandbox.rack(one.node_id),
                is_fenced=True,
            )
            for one in fenced
        ],
    )
