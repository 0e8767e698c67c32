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
        asked = [f"{one.principal_type}:{one.principal_name}" for one in request.owners]
    return DescribeDelegationTokenResponse(
        tokens=[
            _row(context, one)
            for one in context.cluster.access.tokens.living()
            if (asked is None or any(map(one.belongs, asked))) and _may_see(context, one)
        ]
    )


def _may_see(context: RequestContext, one: SandboxToken) -> bool:
    return (
        one.belongs(context.principal)
        or context.may("describe", "delegation-token", one.id)
        or context.may("describe-tokens", "user", one.owner)
    )


def _row(context: RequestContext, one: SandboxToken) -> DescribedDelegationToken:
    kind, _, name = one.owner.partition(":")
    row = DescribedDelegationToken(
        principal_type=kind,
        principal_name=name,
        issue_timestamp=one.issued,
        expiry_timestamp=one.expires,
        max_timestamp=one.end,
        token_id=one.id,
        hmac=one.hmac,
        renewers=[
            DescribedDelegationTokenRenewer(
                principal_type=each.partition(":")[0], principal_name=each.partition(":")[2]
            )
            for each in one.renewers
        ],
    )
    if context.version >= 3:
        asker, _, asked = one.requester.partition(":")
        row.token_requester_principal_type, row.token_requester_principal_name = asker, asked
    return row
