"""PushTelemetry 0 (KIP-714), with `SandboxSettings.telemetry`."""

from __future__ import annotations

from kcli import codes
from kcli.errors import DecodeError
from kcli.proto.messages.push_telemetry import PushTelemetryRequest, PushTelemetryResponse
from kcli.sandbox.cluster.telemetry import Push
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: PushTelemetryRequest) -> PushTelemetryResponse:
    code = context.refused(72)
    if code is None:
        push = Push(
            client_id=context.client_id,
            instance=request.client_instance_id,
            terminating=request.terminating,
            compression=request.compression_type,
            metrics=bytes(request.metrics),
        )
        try:
            code = context.cluster.telemetry.take(push, request.subscription_id, context.host)
        except DecodeError:
            code = codes.INVALID_RECORD
    return PushTelemetryResponse(error_code=code.number)
