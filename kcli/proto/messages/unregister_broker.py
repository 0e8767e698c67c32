"""UnregisterBroker (API key 64): versions 0."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Request, Response, at


class UnregisterBrokerRequest(Request["UnregisterBrokerResponse"], key=64, versions="0", flexible="0+"):
    """Forget a broker that will not come back."""

    broker_id: Int32 = 0


class UnregisterBrokerResponse(Response, key=64, versions="0", flexible="0+"):
    """The answer to UnregisterBrokerRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
