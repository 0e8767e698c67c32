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
        found = context.cluster.access.acls.find(wanted(request))
    except BrokerError as refused:
        response.error_code, response.error_message = refused.code.number, str(refused)
        return response
    at: dict[tuple[str, str, str], DescribeAclsResource] = {}
    for one in found:
        row = at.setdefault(
            one[:3],
            DescribeAclsResource(
                resource_type=KINDS[one.kind], resource_name=one.name, pattern_type=PATTERNS[one.pattern]
            ),
        )
        row.acls.append(
            AclDescription(
                principal=one.principal,
                host=one.host,
                operation=OPERATIONS[one.operation],
                permission_type=PERMISSIONS[one.permission],
            )
        )
    response.resources = list(at.values())
    return response


def wanted(one: DescribeAclsRequest | DeleteAclsFilter) -> AclFilter:
    """The filter as a value. Raises BrokerError INVALID_REQUEST for numbers that say nothing."""
    made = AclFilter(
        kind=_word(KINDS, one.resource_type_filter),
        name=one.resource_name_filter,
        pattern=word(PATTERNS, one.pattern_type_filter),
        principal=one.principal_filter,
        host=one.host_filter,
        operation=_word(OPERATIONS, one.operation),
        permission=_word(PERMISSIONS, one.permission_type),
    )
    unknown((made.kind, KINDS), (made.pattern, PATTERNS), (made.operation, OPERATIONS), (made.permission, PERMISSIONS))
    return made


def _word(table: dict[str, int], number: int) -> str | None:
    return None if number == ANY else word(table, number)
