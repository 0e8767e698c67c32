"""DeleteGroups 0-2. Only groups without members."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(results=[_one(context, name) for name in dict.fromkeys(request.groups_names)])


def _one(context: RequestContext, name: str) -> DeletableGroupResult:
    try:
        context.check_coordinator(42, name)
        context.cluster.groups.delete(name)
    except BrokerError as refused:
        return DeletableGroupResult(group_id=name, error_code=refused.code.number, error_message=str(refused))
    return DeletableGroupResult(group_id=name)
