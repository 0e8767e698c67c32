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
from kcli.sandbox.wire.peer import CloseConnection
from kcli.sandbox.wire.request_context import RequestContext

UNKNOWN = 0


async def answer(context: RequestContext, request: DescribeAclsRequest) -> DescribeAclsResponse:
    response = DescribeAclsResponse(error_message=None)
    try:
        scripted = context.refused(29)
        if scripted is not None:
            raise BrokerError(scripted)
        filtered = wanted(request)
        acls = context.cluster.access.acls.find(filtered)
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
    """The filter as a value. Raises CloseConnection for a number that is no filter, as Kafka does."""
    numbers = (request.resource_type_filter, request.pattern_type_filter, request.operation, request.permission_type)
    if UNKNOWN in numbers:
        raise CloseConnection
    return AclFilter(
        kind=_word(KINDS, request.resource_type_filter),
        name=request.resource_name_filter,
        pattern=word(PATTERNS, request.pattern_type_filter),
        principal=request.principal_filter,
        host=request.host_filter,
        operation=_word(OPERATIONS, request.operation),
        permission=_word(PERMISSIONS, request.permission_type),
    )


def _word(table: dict[str, int], number: int) -> str | None:
    return None if number == ANY else word(table, number)
