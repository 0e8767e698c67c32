"""AddRaftVoter (API key 80): versions 0-1."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Request, Response, Struct, UInt16, Uuid, at


class Listener(Struct):
    name: str = ""
    host: str = ""
    port: UInt16 = 0


class AddRaftVoterRequest(Request["AddRaftVoterResponse"], key=80, versions="0-1", flexible="0+"):
    """Add a voter to the KRaft quorum (KIP-853)."""

    cluster_id: str | None = at(null="0+", default="")
    timeout_ms: Int32 = 0
    voter_id: Int32 = 0
    voter_directory_id: Uuid = NO_ID
    listeners: list[Listener] = at(factory=list)
    ack_when_committed: bool = at("1+", default=True)


class AddRaftVoterResponse(Response, key=80, versions="0-1", flexible="0+"):
    """The answer to AddRaftVoterRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", ignorable=True, default="")
