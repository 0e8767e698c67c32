"""DescribeDelegationToken (API key 41): versions 1-3."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Int64, Request, Response, Struct, at


class DescribeDelegationTokenOwner(Struct):
    principal_type: str = ""
    principal_name: str = ""


class DescribeDelegationTokenRequest(Request["DescribeDelegationTokenResponse"], key=41, versions="1-3", flexible="2+"):
    """The delegation tokens one may see."""

    owners: list[DescribeDelegationTokenOwner] | None = at(null="0+", factory=list)


class DescribedDelegationTokenRenewer(Struct):
    principal_type: str = ""
    principal_name: str = ""


class DescribedDelegationToken(Struct):
    principal_type: str = ""
    principal_name: str = ""
    token_requester_principal_type: str = at("3+", default="")
    token_requester_principal_name: str = at("3+", default="")
    issue_timestamp: Int64 = 0
    expiry_timestamp: Int64 = 0
    max_timestamp: Int64 = 0
    token_id: str = ""
    hmac: bytes = b""
    renewers: list[DescribedDelegationTokenRenewer] = at(factory=list)


class DescribeDelegationTokenResponse(Response, key=41, versions="1-3", flexible="2+"):
    """The answer to DescribeDelegationTokenRequest."""

    error_code: Int16 = 0
    tokens: list[DescribedDelegationToken] = at(factory=list)
    throttle_time_ms: Int32 = 0
