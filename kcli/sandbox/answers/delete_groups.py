"""DeleteGroups 0-2. Only groups without members."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.wire.broker import Call


async def answer(call: Call, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(results=[_one(call, name) for name in request.groups_names])


def _one(call: Call, name: str) -> DeletableGroupResult:
    try:
        call.sandbox.groups.coordinated(call, 42, name)
        call.sandbox.groups.delete(name)
    except BrokerError as refused:
        return DeletableGroupResult(group_id=name, error_code=refused.code.number)
    return DeletableGroupResult(group_id=name)
