"""Where groups live. FindCoordinator asks for many at once (KIP-699); a group that a broker lists lives there."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.admin.gather import PATIENCE, gather
from kcli.errors import BrokerError, KcliError
from kcli.model import Group
from kcli.proto.messages.find_coordinator import FindCoordinatorRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from typing import TypeVar

    from kcli.model import Broker, Cluster

    A = TypeVar("A")

FIND_COORDINATOR, MANY_KEYS_SINCE = 10, 4


class Coordinators:
    """The coordinator of each group as far as known; looked up in one request, forgotten when proven wrong (C15)."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.known: dict[str, int] = {}

    async def ask(
        self,
        groups: Iterable[str],
        ask: Callable[[Broker, list[str]], Awaitable[dict[str, A | KcliError]]],
        *,
        patience: float = PATIENCE,
        most: int = 1_000,
    ) -> dict[str, A | KcliError]:
        """Asks each coordinator about its groups, `most` of them in a request."""
        return await gather(groups, self.locate, ask, self.forget, patience=patience, most=most)

    def forget(self, group: str) -> None:
        self.known.pop(group, None)
        self.cluster.coordinator_moved(Group(group))

    async def locate(self, groups: list[str]) -> tuple[list[tuple[Broker, list[str]]], dict[str, KcliError]]:
        """The coordinators with their groups, and the groups that have none now."""
        places, lost = await self._places([group for group in groups if group not in self.known])
        self.known.update(places)
        by_node: dict[int, list[str]] = {}
        for group in groups:
            if group in self.known:
                by_node.setdefault(self.known[group], []).append(group)
        found: list[tuple[Broker, list[str]]] = []
        for node_id, some in by_node.items():
            try:
                found.append((await self.cluster.node(node_id), some))
            except KcliError as error:
                lost.update(dict.fromkeys(some, error))
        return found, lost

    async def _places(self, groups: list[str]) -> tuple[dict[str, int], dict[str, KcliError]]:
        if not groups:
            return {}, {}
        try:
            broker = await self.cluster.anyone()
            if (await broker.versions()).get(FIND_COORDINATOR, (0, 0))[1] < MANY_KEYS_SINCE:
                return await self._one_by_one(groups)
            answer = await broker.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=groups))
        except KcliError as error:
            return {}, dict.fromkeys(groups, error)
        places: dict[str, int] = {}
        lost: dict[str, KcliError] = {}
        for row in answer.coordinators:
            if row.error_code:
                lost[row.key] = BrokerError(codes.of(row.error_code), row.key, row.error_message or None)
            else:
                places[row.key] = row.node_id
        return places, lost

    async def _one_by_one(self, groups: list[str]) -> tuple[dict[str, int], dict[str, KcliError]]:
        """Brokers before 3.0 know no better."""
        places: dict[str, int] = {}
        lost: dict[str, KcliError] = {}

        async def one(group: str) -> None:
            try:
                places[group] = (await self.cluster.coordinator(Group(group))).node_id
            except KcliError as error:
                lost[group] = error

        await asyncio.gather(*(one(group) for group in groups))
        return places, lost
