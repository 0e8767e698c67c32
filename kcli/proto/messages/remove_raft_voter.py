"""RemoveRaftVoter (API key 81): versions 0."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Request, Response, Uuid, at


class RemoveRaftVoterRequest(Request["RemoveRaftVoterResponse"], key=81, versions="0", flexible="0+"):
    """Remove a voter from the KRaft quorum (KIP-853)."""

    cluster_id: str | None = at(null="0+", default="")
    voter_id: Int32 = 0
    voter_directory_id: Uuid = NO_ID


class RemoveRaftVoterResponse(Response, key=81, versions="0", flexible="0+"):
    """The answer to RemoveRaftVoterRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", ignorable=True, default="")
