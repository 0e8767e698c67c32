"""SaslAuthenticate (API key 36): versions 0-2."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int64, Request, Response, at


class SaslAuthenticateRequest(Request["SaslAuthenticateResponse"], key=36, versions="0-2", flexible="2+"):
    """One step of a SASL exchange."""

    auth_bytes: bytes = b""


class SaslAuthenticateResponse(Response, key=36, versions="0-2", flexible="2+"):
    """The answer to SaslAuthenticateRequest."""

    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
    auth_bytes: bytes = b""
    session_lifetime_ms: Int64 = at("1+", ignorable=True, default=0)
