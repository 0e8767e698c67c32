"""UnregisterController (API key 94): versions 0."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Request, Response, at


class UnregisterControllerRequest(Request["UnregisterControllerResponse"], key=94, versions="0", flexible="0+"):
    """Forget a controller that will not come back."""

    controller_id: Int32 = 0


class UnregisterControllerResponse(Response, key=94, versions="0", flexible="0+"):
    """The answer to UnregisterControllerRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
