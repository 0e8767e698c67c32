"""FindCoordinator in both of its shapes: one key (up to v3) and many keys (v4+, KIP-699)."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.model import Node
from kcli.proto.messages.find_coordinator import FindCoordinatorRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import Broker

FIND_COORDINATOR = 10


async def find_coordinator(broker: Broker, key: str, kind: int) -> Node:
    """The node that coordinates `key`; `kind` is 0 for a group, 1 for a transactional id.
    Raises BrokerError (COORDINATOR_NOT_AVAILABLE while there is none)."""
    _, high = (await broker.versions()).get(FIND_COORDINATOR, (0, 0))
    about = f"{'group' if kind == 0 else 'transactional id'} {key}"
    if high >= 4:
        answer = await broker.ask(FindCoordinatorRequest(key_type=kind, coordinator_keys=[key]))
        for one in answer.coordinators:
            if one.error_code:
                raise BrokerError(codes.of(one.error_code), about)
            return Node(one.node_id, one.host, one.port, None)
        raise BrokerError(codes.COORDINATOR_NOT_AVAILABLE, about)
    answer = await broker.ask(FindCoordinatorRequest(key=key, key_type=kind))
    if answer.error_code:
        raise BrokerError(codes.of(answer.error_code), about)
    return Node(answer.node_id, answer.host, answer.port, None)
