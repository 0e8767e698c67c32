"""DescribeDelegationToken 1-3: the tokens that the asker may see."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from kcli.sandbox.access.delegation_tokens import SandboxToken
from kcli.sandbox.answers.create_delegation_token import check_token_requests
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: DescribeDelegationTokenRequest) -> DescribeDelegationTokenResponse:
    try:
        scripted = context.refused(41)
        if scripted is not None:
            raise BrokerError(scripted)
        check_token_requests(context)
    except BrokerError as refused:
        return DescribeDelegationTokenResponse(error_code=refused.code.number)
    asked = None
    if request.owners is not None:
        asked = [f"{owner.principal_type}:{owner.principal_name}" for owner in request.owners]
    return DescribeDelegationTokenResponse(
        tokens=[
            _row(context, token)
            for token in context.cluster.access.tokens.living()
            if (asked is None or any(map(token.belongs, asked))) and _may_see(context, token)
        ]
    )


def _may_see(context: RequestContext, token: SandboxToken) -> bool:
    return (
        token.belongs(context.principal)
        or context.may("describe", "delegation-token", token.id)
        or context.may("describe-tokens", "user", token.owner)
    )


def _row(context: RequestContext, token: SandboxToken) -> DescribedDelegationToken:
    kind, _, name = token.owner.partition(":")
    row = DescribedDelegationToken(
        principal_type=kind,
        principal_name=name,
        issue_timestamp=token.issued,
        expiry_timestamp=token.expires,
        max_timestamp=token.end,
        token_id=token.id,
        hmac=token.hmac,
        renewers=[
            DescribedDelegationTokenRenewer(
                principal_type=each.partition(":")[0], principal_name=each.partition(":")[2]
            )
            for each in token.renewers
        ],
    )
    if context.version >= 3:
        asker, _, asked = token.requester.partition(":")
        row.token_requester_principal_type, row.token_requester_principal_name = asker, asked
    return row
