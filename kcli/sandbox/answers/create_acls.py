"""CreateAcls 1-3: each by itself, as Kafka does it; one that is there already is no failure."""

from __future__ import annotations

from kcli.acls import KINDS, OPERATIONS, PATTERNS, PERMISSIONS, Acl, word
from kcli.errors import BrokerError
from kcli.proto.messages.create_acls import AclCreation, AclCreationResult, CreateAclsRequest, CreateAclsResponse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.wire.broker import Call


async def answer(call: Call, request: CreateAclsRequest) -> CreateAclsResponse:
    return CreateAclsResponse(results=[_one(call, each) for each in request.creations])


def _one(call: Call, each: AclCreation) -> AclCreationResult:
    try:
        scripted = call.refused(30)
        if scripted is not None:
            raise BrokerError(scripted)
        call.sandbox.access.acls.add(
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
