"""GetTelemetrySubscriptions (API key 71): versions 0."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int8, Int16, Int32, Request, Response, Uuid, at


class GetTelemetrySubscriptionsRequest(
    Request["GetTelemetrySubscriptionsResponse"], key=71, versions="0", flexible="0+"
):
    """The metrics that the cluster wants of this client (KIP-714). An id of zeros asks for a new one."""

    client_instance_id: Uuid = NO_ID


class GetTelemetrySubscriptionsResponse(Response, key=71, versions="0", flexible="0+"):
    """The answer to GetTelemetrySubscriptionsRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    client_instance_id: Uuid = NO_ID
    subscription_id: Int32 = 0
    accepted_compression_types: list[Int8] = at(factory=list)
    push_interval_ms: Int32 = 0
    telemetry_max_bytes: Int32 = 0
    delta_temporality: bool = False
    requested_metrics: list[str] = at(factory=list)
