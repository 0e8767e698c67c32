"""CreateAcls 1-3: each ACL by itself, as Kafka does it; an ACL that exists already is no failure."""

from __future__ import annotations

from kcli.acls import KINDS, OPERATIONS, PATTERNS, PERMISSIONS, Acl, word
from kcli.errors import BrokerError
from kcli.proto.messages.create_acls import AclCreation, AclCreationResult, CreateAclsRequest, CreateAclsResponse
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: CreateAclsRequest) -> CreateAclsResponse:
    return CreateAclsResponse(results=[_one(context, each) for each in request.creations])


def _one(context: RequestContext, each: AclCreation) -> AclCreationResult:
    try:
        scripted = context.refused(30)
        if scripted is not None:
            raise BrokerError(scripted)
        context.cluster.access.acls.add(
            Acl(
                kind=word(KINDS, each.resource_type),
                name=each.resource_name,
                pattern=word(PATTERNS, each.resource_pattern_type),
                principal=each.principal,
                host=each.host,
                operation=word(OPERATIONS, each.operation),
                permission=word(PERMISSIONS, each.permission_type),
            )
        )
    except BrokerError as refused:
        return AclCreationResult(error_code=refused.code.number, error_message=str(refused))
    return AclCreationResult(error_message=None)
