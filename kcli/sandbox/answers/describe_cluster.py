"""DescribeCluster 0-2. 1 adds the endpoint type (controllers have none here), 2 fenced brokers: those that are down."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kcli.sandbox.access.acls import operations
from kcli.sandbox.wire.request_context import RequestContext

BROKERS, CONTROLLERS = 1, 2  # endpoint types


async def answer(context: RequestContext, request: DescribeClusterRequest) -> DescribeClusterResponse:
    code = context.refused(60)
    if code is None and request.endpoint_type != BROKERS:
        known = request.endpoint_type == CONTROLLERS
        code = codes.MISMATCHED_ENDPOINT_TYPE if known else codes.UNSUPPORTED_ENDPOINT_TYPE
    if code is not None:
        return DescribeClusterResponse(error_code=code.number, error_message=code.text)
    cluster = context.cluster
    fenced = cluster.brokers.fenced() if request.include_fenced_brokers else []
    return DescribeClusterResponse(
        cluster_id=cluster.id,
        controller_id=cluster.brokers.controller_id,
        cluster_authorized_operations=operations(
            context, "cluster", wanted=request.include_cluster_authorized_operations
        ),
        brokers=[
            DescribeClusterBroker(
                broker_id=broker.node_id,
                host=cluster.settings.advertised_host,
                port=broker.port,
                rack=broker.rack,
            )
            for broker in cluster.brokers.living()
        ]
        + [
            DescribeClusterBroker(
                broker_id=broker.node_id,
                host=cluster.settings.advertised_host,
                port=broker.port,
                rack=broker.rack,
                is_fenced=True,
            )
            for broker in fenced
        ],
    )
