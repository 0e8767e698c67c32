"""AddRaftVoter 0-1 (KIP-853): a node of the sandbox that lost its vote gets it again."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: AddRaftVoterRequest) -> AddRaftVoterResponse:
    try:
        scripted = context.refused(80)
        if scripted is not None:
            raise BrokerError(scripted)
        context.cluster.quorum.check_cluster(request.cluster_id)
        context.cluster.quorum.add(request.voter_id, request.voter_directory_id)
    except BrokerError as refused:
        return AddRaftVoterResponse(error_code=refused.code.number, error_message=str(refused))
    return AddRaftVoterResponse()
