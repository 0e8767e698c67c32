"""AddRaftVoter 0-1 (KIP-853): a node of the sandbox that lost its vote gets it again."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kcli.proto.schema import NO_ID
from kcli.sandbox.cluster.quorum import LISTENER
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: AddRaftVoterRequest) -> AddRaftVoterResponse:
    try:
        scripted = context.refused(80)
        if scripted is not None:
            raise BrokerError(scripted)
        quorum = context.cluster.quorum
        quorum.check_cluster(request.cluster_id)
        if request.voter_directory_id == NO_ID or all(each.name != LISTENER for each in request.listeners):
            raise BrokerError(codes.INVALID_REQUEST, message=f"a voter has a directory and a listener {LISTENER}")
        quorum.check_voter(request.voter_id)
        quorum.add(request.voter_id, request.voter_directory_id)
    except BrokerError as refused:
        return AddRaftVoterResponse(error_code=refused.code.number, error_message=str(refused))
    return AddRaftVoterResponse()
