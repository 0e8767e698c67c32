"""GetTelemetrySubscriptions 0 (KIP-714), with `SandboxSettings.telemetry`."""

from __future__ import annotations

import uuid

from kcli.proto.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from kcli.proto.schema import NO_ID
from kcli.sandbox.wire.request_context import RequestContext


async def answer(
    context: RequestContext, request: GetTelemetrySubscriptionsRequest
) -> GetTelemetrySubscriptionsResponse:
    code = context.refused(71)
    if code is not None:
        return GetTelemetrySubscriptionsResponse(error_code=code.number)
    instance = request.client_instance_id
    if instance == NO_ID:
        instance = uuid.uuid4().bytes
    return context.cluster.telemetry.subscription(instance, context.client_id, context.host)
