"""RenewDelegationToken (API key 39): versions 1-2."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Int64, Request, Response


class RenewDelegationTokenRequest(Request["RenewDelegationTokenResponse"], key=39, versions="1-2", flexible="2+"):
    """Make a delegation token live longer."""

    hmac: bytes = b""
    renew_period_ms: Int64 = 0


class RenewDelegationTokenResponse(Response, key=39, versions="1-2", flexible="2+"):
    """The answer to RenewDelegationTokenRequest."""

    error_code: Int16 = 0
    expiry_timestamp_ms: Int64 = 0
    throttle_time_ms: Int32 = 0
