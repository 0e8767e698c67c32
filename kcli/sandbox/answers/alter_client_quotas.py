"""AlterClientQuotas 0-1 (KIP-546): each entity whole or not at all."""

from __future__ import annotations

from collections import Counter

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    AnsweredEntryData,
    EntityData,
    EntryData,
)
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: AlterClientQuotasRequest) -> AlterClientQuotasResponse:
    entities = [tuple(sorted((part.entity_type, part.entity_name or "") for part in e.entity)) for e in request.entries]
    times = Counter(entities)
    rows = []
    for entity, entry in zip(entities, request.entries, strict=True):
        if times[entity] == 1:
            rows.append(_one(context, entry, request.validate_only))
        elif times.pop(entity, 0):
            _one(context, entry, request.validate_only)  # Kafka has stored the first when it comes to the second
            words, code = "Duplicate client quota entity", codes.INVALID_REQUEST.number
            rows.append(AnsweredEntryData(error_code=code, error_message=words, entity=entry.entity))
    return AlterClientQuotasResponse(entries=rows)


def _one(context: RequestContext, asked: EntryData, check_only: bool) -> AnsweredEntryData:
    entity = {part.entity_type: part.entity_name for part in asked.entity}  # the last of a type counts
    parts = [EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()]
    row = AnsweredEntryData(error_message=None, entity=parts)
    try:
        scripted = context.refused(49)
        if scripted is not None:
            raise BrokerError(scripted)
        context.cluster.quotas.alter(
            list(entity.items()),
            [(op.key, None if op.remove else op.value) for op in asked.ops],
            check_only=check_only,
        )
    except BrokerError as refused:
        row.error_code, row.error_message = refused.code.number, str(refused)
    return row
