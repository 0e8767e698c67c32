"""ExpireDelegationToken (API key 40): versions 1-2."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Int64, Request, Response


class ExpireDelegationTokenRequest(Request["ExpireDelegationTokenResponse"], key=40, versions="1-2", flexible="2+"):
    """Make a delegation token end."""

    hmac: bytes = b""
    expiry_time_period_ms: Int64 = 0


class ExpireDelegationTokenResponse(Response, key=40, versions="1-2", flexible="2+"):
    """The answer to ExpireDelegationTokenRequest."""

    error_code: Int16 = 0
    expiry_timestamp_ms: Int64 = 0
    throttle_time_ms: Int32 = 0
