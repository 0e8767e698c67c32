"""ApiVersions 0-4. Response header v0 at every version; a version above 4 is refused in the broker with a v0 body."""

from __future__ import annotations

from kcli.proto.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kcli.sandbox.answers import versions_answered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.broker import Call


async def answer(call: Call, request: ApiVersionsRequest) -> ApiVersionsResponse:
    code = call.sandbox.faults.code(18, call.broker.node_id)
    if code is not None:
        return ApiVersionsResponse(error_code=code.number)
    return ApiVersionsResponse(api_keys=versions_answered())
