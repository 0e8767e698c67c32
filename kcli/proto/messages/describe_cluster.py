"""DescribeCluster (API key 60): versions 0-2."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Request, Response, Struct, at


class DescribeClusterRequest(Request["DescribeClusterResponse"], key=60, versions="0-2", flexible="0+"):
    """Brokers, controller and cluster id."""

    include_cluster_authorized_operations: bool = False
    endpoint_type: Int8 = at("1+", default=1)
    include_fenced_brokers: bool = at("2+", default=False)


class DescribeClusterBroker(Struct):
    broker_id: Int32 = 0
    host: str = ""
    port: Int32 = 0
    rack: str | None = at(null="0+", default=None)
    is_fenced: bool = at("2+", default=False)


class DescribeClusterResponse(Response, key=60, versions="0-2", flexible="0+"):
    """The answer to DescribeClusterRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)
    endpoint_type: Int8 = at("1+", default=1)
    cluster_id: str = ""
    controller_id: Int32 = -1
    brokers: list[DescribeClusterBroker] = at(factory=list)
    cluster_authorized_operations: Int32 = -2147483648
