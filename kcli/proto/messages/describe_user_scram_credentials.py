"""DescribeUserScramCredentials (API key 50): versions 0."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Request, Response, Struct, at


class UserName(Struct):
    name: str = ""


class DescribeUserScramCredentialsRequest(
    Request["DescribeUserScramCredentialsResponse"], key=50, versions="0", flexible="0+"
):
    """The SCRAM mechanisms and iterations of users; never their secrets."""

    users: list[UserName] | None = at(null="0+", factory=list)


class CredentialInfo(Struct):
    mechanism: Int8 = 0
    iterations: Int32 = 0


class DescribeUserScramCredentialsResult(Struct):
    user: str = ""
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
    credential_infos: list[CredentialInfo] = at(factory=list)


class DescribeUserScramCredentialsResponse(Response, key=50, versions="0", flexible="0+"):
    """The answer to DescribeUserScramCredentialsRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
    results: list[DescribeUserScramCredentialsResult] = at(factory=list)
