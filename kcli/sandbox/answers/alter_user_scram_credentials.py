"""AlterUserScramCredentials 0: each user whole or not at all."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialUpsertion,
)
from kcli.sandbox.answers.describe_user_scram_credentials import NUMBERS
from kcli.sandbox.wire.request_context import RequestContext

NAMES = {number: name for name, number in NUMBERS.items()}
FEWEST, MOST = 4096, 16384


async def answer(
    context: RequestContext, request: AlterUserScramCredentialsRequest
) -> AlterUserScramCredentialsResponse:
    names = dict.fromkeys(
        [*(deletion.name for deletion in request.deletions), *(upsertion.name for upsertion in request.upsertions)]
    )
    return AlterUserScramCredentialsResponse(results=[_user(context, request, name) for name in names])


def _user(
    context: RequestContext, request: AlterUserScramCredentialsRequest, name: str
) -> AlterUserScramCredentialsResult:
    users = context.cluster.access.scram
    gone = [deletion.mechanism for deletion in request.deletions if deletion.name == name]
    new = [upsertion for upsertion in request.upsertions if upsertion.name == name]
    try:
        scripted = context.refused(51)
        if scripted is not None:
            raise BrokerError(scripted)
        _check(name, gone, new)
        if any(NAMES[number] not in users.iterations(name) for number in gone):
            raise BrokerError(
                codes.RESOURCE_NOT_FOUND, message="Attempt to delete a user credential that does not exist"
            )
    except BrokerError as refused:
        return AlterUserScramCredentialsResult(user=name, error_code=refused.code.number, error_message=str(refused))
    for number in gone:
        users.delete(name, NAMES[number])
    for upsertion in new:
        users.set(
            name,
            NAMES[upsertion.mechanism],
            bytes(upsertion.salt),
            upsertion.iterations,
            bytes(upsertion.salted_password),
        )
    return AlterUserScramCredentialsResult(user=name, error_message=None)


def _check(name: str, gone: list[int], new: list[ScramCredentialUpsertion]) -> None:
    """Raises BrokerError for a request that Kafka refuses whatever the user has."""
    if not name:
        raise BrokerError(codes.UNACCEPTABLE_CREDENTIAL, message="Username must not be empty")
    every = [*gone, *(upsertion.mechanism for upsertion in new)]
    if any(number not in NAMES for number in every):
        raise BrokerError(codes.UNSUPPORTED_SASL_MECHANISM, message="Unknown SCRAM mechanism")
    if len(every) > 1:
        raise BrokerError(
            codes.DUPLICATE_RESOURCE, message="A user credential cannot be altered twice in the same request"
        )
    for upsertion in new:
        if upsertion.iterations < FEWEST:
            raise BrokerError(codes.UNACCEPTABLE_CREDENTIAL, message="Too few iterations")
        if upsertion.iterations > MOST:
            raise BrokerError(codes.UNACCEPTABLE_CREDENTIAL, message="Too many iterations")
        if not upsertion.salted_password:
            raise BrokerError(codes.UNKNOWN_SERVER_ERROR, message="Empty key")
