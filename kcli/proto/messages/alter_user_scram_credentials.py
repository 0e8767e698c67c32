"""AlterUserScramCredentials (API key 51): versions 0."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Request, Response, Struct, at


class ScramCredentialDeletion(Struct):
    name: str = ""
    mechanism: Int8 = 0


class ScramCredentialUpsertion(Struct):
    name: str = ""
    mechanism: Int8 = 0
    iterations: Int32 = 0
    salt: bytes = b""
    salted_password: bytes = b""


class AlterUserScramCredentialsRequest(
    Request["AlterUserScramCredentialsResponse"], key=51, versions="0", flexible="0+"
):
    """Set and remove SCRAM credentials."""

    deletions: list[ScramCredentialDeletion] = at(factory=list)
    upsertions: list[ScramCredentialUpsertion] = at(factory=list)


class AlterUserScramCredentialsResult(Struct):
    user: str = ""
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")


class AlterUserScramCredentialsResponse(Response, key=51, versions="0", flexible="0+"):
    """The answer to AlterUserScramCredentialsRequest."""

    throttle_time_ms: Int32 = 0
    results: list[AlterUserScramCredentialsResult] = at(factory=list)
