"""The brokers in use: one object per node id, and the choice of the broker to ask. Seeds are kept separately."""

from __future__ import annotations

from os import urandom

from kcli.errors import Closed, ConnectError, DeadlineExceeded, KcliError, NeverMet
from kcli.model import Address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from kcli.model import BrokerConnection, Connect, Node


GRACE = 2.0
"""Seconds for which brokers that were never reached may still be starting."""


class Pool:
    """Brokers by node id, and the bootstrap seeds."""

    def __init__(self, connect: Connect, seeds: Sequence[Address]) -> None:
        self._connect = connect
        self.seeds = list(seeds)
        self._brokers: dict[int, tuple[Address, BrokerConnection]] = {}
        self._seed_brokers: dict[Address, BrokerConnection] = {}
        self._retired: list[BrokerConnection] = []
        self._closed = False
        self._met = False  # whether any broker was reached, including discarded ones

    def check(self) -> None:
        """Raise Closed after the end."""
        if self._closed:
            raise Closed("the client was closed")

    def broker(self, node: Node) -> BrokerConnection:
        """Return the broker of a node. A node with a new address gets a new connection."""
        if self._closed:
            self.check()
        known = self._brokers.get(node.id)
        if known is not None and known[0] == (node.host, node.port):
            return known[1]
        address = Address(node.host, node.port)
        if known is not None:
            self._met = self._met or known[1].met
            self._retired.append(known[1])
        connection = self._connect(address, node.id)
        self._brokers[node.id] = (address, connection)
        return connection

    def seed_brokers(self) -> list[BrokerConnection]:
        """Return the brokers at the bootstrap addresses, which are only asked for metadata, in random order."""
        self.check()
        for address in self.seeds:
            if address not in self._seed_brokers:
                self._seed_brokers[address] = self._connect(address, -1)
        return sorted(self._seed_brokers.values(), key=lambda _: urandom(2))

    def candidates(self, nodes: Sequence[Node]) -> list[BrokerConnection]:
        """Return the brokers of `nodes`, the best one to ask first; equals are in random order."""
        return sorted([self.broker(node) for node in nodes], key=lambda broker: (*load(broker), urandom(2)))

    def check_met(self, nodes: Sequence[Node], now: float) -> None:
        """Raise NeverMet if all `nodes` were tried for a while without success although a bootstrap address responds:
        then the advertised addresses are wrong, and waiting does not help."""
        brokers = [self._brokers[node.id][1] for node in nodes if node.id in self._brokers]
        if self._met or not nodes or len(brokers) < len(nodes) or any(broker.met for broker in brokers):
            return
        failing = [broker.failing for broker in brokers]
        if all(failure is not None and now - failure[0] >= GRACE for failure in failing):
            raise never_met([str(failure[1]) for failure in failing if failure is not None], self.seeds)

    def failing(self, nodes: Container[int]) -> dict[int, tuple[float, float, KcliError]]:
        """See `model.Cluster.failing`; limited to `nodes`."""
        failures = {}
        for node_id, (_, broker) in self._brokers.items():
            trouble = broker.failing
            if trouble is not None and node_id in nodes:
                failures[node_id] = (trouble[0], broker.last_attempt, trouble[1])
        return failures

    def silencing(self) -> dict[int, float]:
        """See `model.Cluster.silencing`."""
        asked = {node_id: broker.long_silence for node_id, (_, broker) in self._brokers.items()}
        return {node_id: seconds for node_id, seconds in asked.items() if seconds}

    def adopt(self, nodes: Sequence[Node]) -> None:
        """Use a connected seed as the broker of the node with the same address, if that is not connected. This saves a
        connection, which costs several round trips with TLS and SASL."""
        for node in nodes:
            address = Address(node.host, node.port)
            seed = self._seed_brokers.get(address)
            if seed is not None and seed.connected and node.id not in self._brokers:
                seed.become(node.id)
                self._brokers[node.id] = address, self._seed_brokers.pop(address)

    async def retire(self) -> None:
        """Close brokers that are no longer used, including seeds once the cluster is known."""
        over = [address for address, broker in self._seed_brokers.items() if not broker.busy]
        moved, self._retired = self._retired, []
        # now, because another call may retire some while we wait
        unneeded = [self._seed_brokers.pop(address) for address in over]
        for broker in moved:
            await broker.retire()
        for broker in unneeded:
            await broker.close()

    async def forget(self) -> None:
        """Close every connection except those to the seeds: brokers are looked up again (KIP-1102)."""
        brokers, self._brokers = [broker for _, broker in self._brokers.values()], {}
        self._met = self._met or any(broker.met for broker in brokers)
        for broker in brokers:
            await broker.retire()

    async def close(self) -> None:
        """Close all connections. Idempotent."""
        self._closed = True
        everyone = [*self._retired, *self._seed_brokers.values(), *(broker for _, broker in self._brokers.values())]
        self._retired, self._seed_brokers, self._brokers = [], {}, {}
        for broker in everyone:
            await broker.close()


def load(broker: BrokerConnection) -> tuple[int, float]:
    """Return a sort key for the cost of asking this broker now: connected (fewest requests in flight first),
    connecting, not connected (longest untried first), throttling us, backing off."""
    if broker.muted:
        return 3, 0
    if broker.connected:
        return 0, broker.in_flight
    if broker.connecting:
        return 1, 0
    return 4 if broker.backing_off else 2, broker.last_attempt


def unreachable(reasons: dict[str, KcliError], seeds: Sequence[Address]) -> KcliError:
    """Combine the errors of all addresses into one."""
    if not reasons:
        return ConnectError("no bootstrap address was given")
    text = "; ".join(dict.fromkeys(str(problem) for problem in reasons.values()))
    tried = ", ".join(f"{host}:{port}" for host, port in seeds)
    if all(isinstance(problem, DeadlineExceeded) for problem in reasons.values()):
        return DeadlineExceeded(f"no broker answered in time (bootstrap {tried}): {text}")
    if len(reasons) == 1:
        return ConnectError(f"could not connect to a broker: {text}")
    return ConnectError(f"could not connect to any of {len(reasons)} addresses: {text}")


def never_met(reasons: Sequence[str], seeds: Sequence[Address]) -> NeverMet:
    """Combine the errors of all brokers' addresses into one NeverMet."""
    none = "its broker cannot" if len(reasons) == 1 else f"none of its {len(reasons)} brokers can"
    answers = ", ".join(f"{host}:{port}" for host, port in seeds)
    return NeverMet(
        f"{answers} answers, but {none} be reached at the address it advertises: {'; '.join(reasons[:3])}: change its "
        "advertised.listeners, or map the address (broker_map)"
    ).hinted("broker-map")
