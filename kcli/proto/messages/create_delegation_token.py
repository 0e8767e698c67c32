"""CreateDelegationToken (API key 38): versions 1-3."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Int64, Request, Response, Struct, at


class CreatableRenewers(Struct):
    principal_type: str = ""
    principal_name: str = ""


class CreateDelegationTokenRequest(Request["CreateDelegationTokenResponse"], key=38, versions="1-3", flexible="2+"):
    """A delegation token for its owner (KIP-48)."""

    owner_principal_type: str | None = at("3+", null="3+", default="")
    owner_principal_name: str | None = at("3+", null="3+", default="")
    renewers: list[CreatableRenewers] = at(factory=list)
    max_lifetime_ms: Int64 = 0


class CreateDelegationTokenResponse(Response, key=38, versions="1-3", flexible="2+"):
    """The answer to CreateDelegationTokenRequest."""

    error_code: Int16 = 0
    principal_type: str = ""
    principal_name: str = ""
    token_requester_principal_type: str = at("3+", default="")
    token_requester_principal_name: str = at("3+", default="")
    issue_timestamp_ms: Int64 = 0
    expiry_timestamp_ms: Int64 = 0
    max_timestamp_ms: Int64 = 0
    token_id: str = ""
    hmac: bytes = b""
    throttle_time_ms: Int32 = 0
