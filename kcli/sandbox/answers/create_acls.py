"""CreateAcls 1-3: each ACL by itself, as Kafka does it; an ACL that exists already is no failure."""

from __future__ import annotations

from kcli import codes
from kcli.acls import ANY, KINDS, OPERATIONS, PATTERNS, PERMISSIONS, Acl, word
from kcli.errors import BrokerError
from kcli.proto.messages.create_acls import AclCreation, AclCreationResult, CreateAclsRequest, CreateAclsResponse
from kcli.sandbox.wire.peer import CloseConnection
from kcli.sandbox.wire.request_context import RequestContext

UNKNOWN, MATCH = 0, 2


async def answer(context: RequestContext, request: CreateAclsRequest) -> CreateAclsResponse:
    numbers = ((e.resource_type, e.resource_pattern_type, e.operation, e.permission_type) for e in request.creations)
    if any(UNKNOWN in each for each in numbers):
        raise CloseConnection
    return CreateAclsResponse(results=[_one(context, each) for each in request.creations])


def _one(context: RequestContext, each: AclCreation) -> AclCreationResult:
    try:
        scripted = context.refused(30)
        if scripted is not None:
            raise BrokerError(scripted)
        acls = context.cluster.access.acls
        if ANY in (each.resource_type, each.resource_pattern_type, each.operation, each.permission_type) or (
            each.resource_pattern_type == MATCH
        ):
            raise BrokerError(codes.UNKNOWN_SERVER_ERROR, message="an ACL is about one resource and one operation")
        if not each.host and context.cluster.settings.kafka_version != "4.3":  # since KIP-1276
            raise BrokerError(codes.INVALID_REQUEST, message="an ACL has a host")
        acls.add(
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
