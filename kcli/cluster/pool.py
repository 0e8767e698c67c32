"""The brokers in use: one object per node id, and which of them is best asked (B27). Seeds are not brokers (C2)."""

from __future__ import annotations

import random

from kcli.errors import AuthError, ConnectError, DeadlineExceeded, KcliError
from kcli.model import Address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.model import Broker, Connect, Node


class Pool:
    """Brokers by node id, and the seeds to begin with."""

    def __init__(self, connect: Connect, seeds: Sequence[Address]) -> None:
        self._connect = connect
        self.seeds = list(seeds)
        self._brokers: dict[int, tuple[Address, Broker]] = {}
        self._seed_brokers: dict[Address, Broker] = {}
        self._retired: list[Broker] = []

    def broker(self, node: Node) -> Broker:
        """The broker of a node; a node that moved to another address is another connection."""
        address = Address(node.host, node.port)
        known = self._brokers.get(node.id)
        if known is not None and known[0] == address:
            return known[1]
        if known is not None:
            self._retired.append(known[1])
        made = self._connect(address, node.id)
        self._brokers[node.id] = (address, made)
        return made

    def seed(self, address: Address) -> Broker:
        """The broker behind a bootstrap address, of which only metadata is asked."""
        if address not in self._seed_brokers:
            self._seed_brokers[address] = self._connect(address, -1)
        return self._seed_brokers[address]

    def candidates(self, nodes: Sequence[Node]) -> list[Broker]:
        """The brokers of `nodes`, best first: connected and idle, connected, never tried, backing off."""
        brokers = [self.broker(node) for node in nodes]
        random.shuffle(brokers)
        return sorted(brokers, key=_load)

    async def retire(self) -> None:
        """Close brokers that nobody will ask again, seeds included once the cluster is known."""
        idle = [address for address, one in self._seed_brokers.items() if not getattr(one, "in_flight", 0)]
        gone = self._retired + [self._seed_brokers.pop(address) for address in idle]
        self._retired = []
        for broker in gone:
            await broker.close()

    async def close(self) -> None:
        everyone = [*self._retired, *self._seed_brokers.values(), *(broker for _, broker in self._brokers.values())]
        self._retired, self._seed_brokers, self._brokers = [], {}, {}
        for broker in everyone:
            await broker.close()


def _load(broker: Broker) -> tuple[int, int]:
    """How much asking this broker now would cost; a fake without these figures counts as idle."""
    if getattr(broker, "connected", True):
        return 0, getattr(broker, "in_flight", 0)
    return (2 if getattr(broker, "backing_off", False) else 1), 0


def unreachable(reasons: dict[str, KcliError], seeds: Sequence[Address]) -> KcliError:
    """One error of many: what each address said. The kind is the gravest."""
    for problem in reasons.values():
        if isinstance(problem, AuthError):
            return problem
    if not reasons:
        return ConnectError("no bootstrap server was given")
    text = "\n  ".join(str(problem) for problem in reasons.values())
    tried = ", ".join(f"{host}:{port}" for host, port in seeds)
    if all(isinstance(problem, DeadlineExceeded) for problem in reasons.values()):
        return DeadlineExceeded(f"no broker answered in time (bootstrap {tried}):\n  {text}")
    if len(reasons) == 1:
        return ConnectError(f"could not connect: {text}")
    return ConnectError(f"could not connect to any of {len(reasons)} addresses:\n  {text}")
