"""ListGroups 0-5. 4 adds states and their filter, 5 types: classic or consumer."""

from __future__ import annotations

from kcli.acls import CLUSTER
from kcli.proto.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    code = context.refused(16)
    if code is not None:
        return ListGroupsResponse(error_code=code.number)
    states = {state.lower() for state in request.states_filter}
    every = context.may("describe", "cluster", CLUSTER)
    types = {kind.lower() for kind in request.types_filter}
    return ListGroupsResponse(
        groups=[
            ListedGroup(
                group_id=group.name, protocol_type=group.protocol_type, group_state=group.state, group_type=group.kind
            )
            for group in context.cluster.groups.all()
            if context.coordinates(group.name)
            and (every or context.may("describe", "group", group.name))
            and (not states or group.state.lower() in states)
            and (not types or group.kind in types)
        ]
    )
