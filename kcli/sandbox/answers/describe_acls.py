"""DescribeAcls 1-3."""

from __future__ import annotations

from kcli.acls import ANY, KINDS, OPERATIONS, PATTERNS, PERMISSIONS, AclFilter, word
from kcli.errors import BrokerError
from kcli.proto.messages.delete_acls import DeleteAclsFilter
from kcli.proto.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from kcli.sandbox.access.acls import unknown
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: DescribeAclsRequest) -> DescribeAclsResponse:
    response = DescribeAclsResponse(error_message=None)
    try:
        scripted = context.refused(29)
        if scripted is not None:
            raise BrokerError(scripted)
        acls = context.cluster.access.acls.find(wanted(request))
    except BrokerError as refused:
        response.error_code, response.error_message = refused.code.number, str(refused)
        return response
    at: dict[tuple[str, str, str], DescribeAclsResource] = {}
    for acl in acls:
        row = at.setdefault(
            acl[:3],
            DescribeAclsResource(
                resource_type=KINDS[acl.kind], resource_name=acl.name, pattern_type=PATTERNS[acl.pattern]
            ),
        )
        row.acls.append(
            AclDescription(
                principal=acl.principal,
                host=acl.host,
                operation=OPERATIONS[acl.operation],
                permission_type=PERMISSIONS[acl.permission],
            )
        )
    response.resources = list(at.values())
    return response


def wanted(request: DescribeAclsRequest | DeleteAclsFilter) -> AclFilter:
    """The filter as a value. Raises BrokerError INVALID_REQUEST for numbers that say nothing."""
    wanted_acls = AclFilter(
        kind=_word(KINDS, request.resource_type_filter),
        name=request.resource_name_filter,
        pattern=word(PATTERNS, request.pattern_type_filter),
        principal=request.principal_filter,
        host=request.host_filter,
        operation=_word(OPERATIONS, request.operation),
        permission=_word(PERMISSIONS, request.permission_type),
    )
    unknown(
        (wanted_acls.kind, KINDS),
        (wanted_acls.pattern, PATTERNS),
        (wanted_acls.operation, OPERATIONS),
        (wanted_acls.permission, PERMISSIONS),
    )
    return wanted_acls


def _word(table: dict[str, int], number: int) -> str | None:
    return None if number == ANY else word(table, number)
