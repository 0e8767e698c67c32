"""DescribeUserScramCredentials 0: mechanisms and iterations, never what proves anything."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from kcli.sandbox.wire.request_context import RequestContext

NUMBERS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}


async def answer(
    context: RequestContext, request: DescribeUserScramCredentialsRequest
) -> DescribeUserScramCredentialsResponse:
    scripted = context.refused(50)
    if scripted is not None:
        return DescribeUserScramCredentialsResponse(error_code=scripted.number, error_message=None)
    users = context.cluster.access.scram
    asked = [user.name for user in request.users or ()] or users.names()
    rows = []
    for name in dict.fromkeys(asked):
        row = DescribeUserScramCredentialsResult(user=name, error_message=None)
        iterations = users.iterations(name)
        if asked.count(name) > 1:
            row.error_code = codes.DUPLICATE_RESOURCE.number
            row.error_message = f"Cannot describe SCRAM credentials for the same user twice in a single request: {name}"
            iterations = {}
        elif not iterations:
            row.error_code = codes.RESOURCE_NOT_FOUND.number
            row.error_message = f"Attempt to describe a user credential that does not exist: {name}"
        row.credential_infos = [
            CredentialInfo(mechanism=NUMBERS[mechanism], iterations=n) for mechanism, n in iterations.items()
        ]
        rows.append(row)
    return DescribeUserScramCredentialsResponse(error_message=None, results=rows)
