"""DeleteShareGroupOffsets (API key 92): versions 0."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Request, Response, Struct, Uuid, at


class DeleteShareGroupOffsetsRequestTopic(Struct):
    topic_name: str = ""


class DeleteShareGroupOffsetsRequest(Request["DeleteShareGroupOffsetsResponse"], key=92, versions="0", flexible="0+"):
    """Forget a share group's topics."""

    group_id: str = ""
    topics: list[DeleteShareGroupOffsetsRequestTopic] = at(factory=list)


class DeleteShareGroupOffsetsResponseTopic(Struct):
    topic_name: str = ""
    topic_id: Uuid = NO_ID
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)


class DeleteShareGroupOffsetsResponse(Response, key=92, versions="0", flexible="0+"):
    """The answer to DeleteShareGroupOffsetsRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)
    responses: list[DeleteShareGroupOffsetsResponseTopic] = at(factory=list)
