"""AddRaftVoter 0-1 (KIP-853): a node of the sandbox that lost its vote gets it again."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.wire.broker import Call


async def answer(call: Call, request: AddRaftVoterRequest) -> AddRaftVoterResponse:
    try:
        scripted = call.refused(80)
        if scripted is not None:
            raise BrokerError(scripted)
        call.sandbox.quorum.check_cluster(request.cluster_id)
        call.sandbox.quorum.add(request.voter_id, request.voter_directory_id)
    except BrokerError as refused:
        return AddRaftVoterResponse(error_code=refused.code.number, error_message=str(refused))
    return AddRaftVoterResponse()
