"""RemoveRaftVoter 0 (KIP-853): the node stays, and only watches from then on."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: RemoveRaftVoterRequest) -> RemoveRaftVoterResponse:
    try:
        scripted = context.refused(81)
        if scripted is not None:
            raise BrokerError(scripted)
        context.cluster.quorum.check_cluster(request.cluster_id)
        context.cluster.quorum.check_voter(request.voter_id)
        context.cluster.quorum.remove(request.voter_id, request.voter_directory_id)
    except BrokerError as refused:
        return RemoveRaftVoterResponse(error_code=refused.code.number, error_message=str(refused))
    return RemoveRaftVoterResponse()
