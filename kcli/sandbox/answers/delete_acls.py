"""DeleteAcls 1-3: what each filter matches is gone, and told."""

from __future__ import annotations

from kcli.acls import KINDS, OPERATIONS, PATTERNS, PERMISSIONS
from kcli.errors import BrokerError
from kcli.proto.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from kcli.sandbox.answers.describe_acls import wanted
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: DeleteAclsRequest) -> DeleteAclsResponse:
    return DeleteAclsResponse(filter_results=[_one(context, each) for each in request.filters])


def _one(context: RequestContext, each: DeleteAclsFilter) -> DeleteAclsFilterResult:
    try:
        scripted = context.refused(31)
        if scripted is not None:
            raise BrokerError(scripted)
        filtered = wanted(each)
        gone = context.cluster.access.acls.remove(filtered)
    except BrokerError as refused:
        return DeleteAclsFilterResult(error_code=refused.code.number, error_message=str(refused))
    rows = [
        DeleteAclsMatchingAcl(
            error_message=None,
            resource_type=KINDS[acl.kind],
            resource_name=acl.name,
            pattern_type=PATTERNS[acl.pattern],
            principal=acl.principal,
            host=acl.host,
            operation=OPERATIONS[acl.operation],
            permission_type=PERMISSIONS[acl.permission],
        )
        for acl in gone
    ]
    return DeleteAclsFilterResult(error_message=None, matching_acls=rows)
