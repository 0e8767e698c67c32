"""DescribeClientQuotas 0-1 (KIP-546)."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: DescribeClientQuotasRequest) -> DescribeClientQuotasResponse:
    filters = [(component.entity_type, component.match_type, component.match) for component in request.components]
    try:
        scripted = context.refused(48)
        if scripted is not None:
            raise BrokerError(scripted)
        matched = context.cluster.quotas.find(filters, request.strict)
    except BrokerError as refused:
        return DescribeClientQuotasResponse(error_code=refused.code.number, error_message=str(refused), entries=None)
    entries = [
        EntryData(
            entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in at],
            values=[ValueData(key=key, value=value) for key, value in values.items()],
        )
        for at, values in matched.items()
    ]
    return DescribeClientQuotasResponse(error_message=None, entries=entries)
