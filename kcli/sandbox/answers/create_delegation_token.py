"""CreateDelegationToken 1-3 (KIP-48; 3: for another user, KIP-373)."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.create_delegation_token import CreateDelegationTokenRequest, CreateDelegationTokenResponse
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: CreateDelegationTokenRequest) -> CreateDelegationTokenResponse:
    owner = context.principal
    try:
        scripted = context.refused(38)
        if scripted is not None:
            raise BrokerError(scripted)
        if request.owner_principal_name:
            owner = f"{request.owner_principal_type}:{request.owner_principal_name}"
        check_token_requests(context)
        if owner != context.principal and not context.may("create-tokens", "user", owner):
            raise BrokerError(codes.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
        renewers = [f"{renewer.principal_type}:{renewer.principal_name}" for renewer in request.renewers]
        token = context.cluster.access.tokens.create(owner, context.principal, renewers, request.max_lifetime_ms)
    except BrokerError as refused:
        return _refused(context, owner, refused.code)
    kind, _, name = token.owner.partition(":")
    asker, _, asked = token.requester.partition(":")
    response = CreateDelegationTokenResponse(
        principal_type=kind,
        principal_name=name,
        issue_timestamp_ms=token.issued,
        expiry_timestamp_ms=token.expires,
        max_timestamp_ms=token.end,
        token_id=token.id,
        hmac=token.hmac,
    )
    if context.version >= 3:
        response.token_requester_principal_type, response.token_requester_principal_name = asker, asked
    return response


def _refused(context: RequestContext, owner: str, code: codes.ErrorCode) -> CreateDelegationTokenResponse:
    kind, _, name = owner.partition(":")
    response = CreateDelegationTokenResponse(
        error_code=code.number,
        principal_type=kind,
        principal_name=name,
        issue_timestamp_ms=-1,
        expiry_timestamp_ms=-1,
        max_timestamp_ms=-1,
    )
    if context.version >= 3:
        asker, _, asked = context.principal.partition(":")
        response.token_requester_principal_type, response.token_requester_principal_name = asker, asked
    return response


def check_token_requests(context: RequestContext) -> None:
    """Raise BrokerError for a client that is not authenticated, or logged in with a token: tokens do not create
    tokens."""
    if context.principal == "User:ANONYMOUS" or (context.sasl is not None and context.sasl.by_token):
        raise BrokerError(codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
