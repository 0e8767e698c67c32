"""PushTelemetry (API key 72): versions 0."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int8, Int16, Int32, Request, Response, Uuid


class PushTelemetryRequest(Request["PushTelemetryResponse"], key=72, versions="0", flexible="0+"):
    """Metrics of this client, as OpenTelemetry's MetricsData v1 in protobuf (KIP-714)."""

    client_instance_id: Uuid = NO_ID
    subscription_id: Int32 = 0
    terminating: bool = False
    compression_type: Int8 = 0
    metrics: bytes = b""


class PushTelemetryResponse(Response, key=72, versions="0", flexible="0+"):
    """The answer to PushTelemetryRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
