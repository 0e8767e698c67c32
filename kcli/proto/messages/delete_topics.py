"""DeleteTopics (API key 20): versions 1-6."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Request, Response, Struct, Uuid, at


class DeleteTopicState(Struct):
    name: str | None = at("6+", null="6+", default=None)
    topic_id: Uuid = at("6+", default=NO_ID)


class DeleteTopicsRequest(Request["DeleteTopicsResponse"], key=20, versions="1-6", flexible="4+"):
    """Delete topics, by name or id."""

    topics: list[DeleteTopicState] = at("6+", factory=list)
    topic_names: list[str] = at("0-5", ignorable=True, factory=list)
    timeout_ms: Int32 = 0


class DeletableTopicResult(Struct):
    name: str | None = at(null="6+", default="")
    topic_id: Uuid = at("6+", ignorable=True, default=NO_ID)
    error_code: Int16 = 0
    error_message: str | None = at("5+", null="5+", ignorable=True, default=None)


class DeleteTopicsResponse(Response, key=20, versions="1-6", flexible="4+"):
    """The answer to DeleteTopicsRequest."""

    throttle_time_ms: Int32 = at("1+", ignorable=True, default=0)
    responses: list[DeletableTopicResult] = at(factory=list)
