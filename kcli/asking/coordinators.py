"""Coordinators of groups and transactional ids. FindCoordinator looks up many at once (KIP-699); a group that a broker
lists is coordinated by that broker."""

from __future__ import annotations

from kcli import codes
from kcli.asking.fan_out import PATIENCE, brokers_of, gather
from kcli.errors import BrokerError, KcliError
from kcli.model import Group, Node, Transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from typing import TypeVar

    from kcli.model import Broker, Cluster

    A = TypeVar("A")

FIND_COORDINATOR = 10
GROUP, TRANSACTION, SHARE = 0, 1, 2
"""Key types of FindCoordinator. A SHARE key is group:topicId:partition (KIP-932)."""


class Coordinators:
    """The known coordinators of groups or transactional ids: looked up in one request, discarded when proven wrong."""

    def __init__(self, cluster: Cluster, kind: int = GROUP) -> None:
        self.cluster = cluster
        self.kind = kind
        self.known: dict[str, int] = {}

    async def ask(
        self,
        groups: Iterable[str],
        ask: Callable[[Broker, list[str]], Awaitable[dict[str, A | KcliError]]],
        *,
        patience: float = PATIENCE,
        most: int = 1_000,
    ) -> dict[str, A | KcliError]:
        """Ask each coordinator about its groups, at most `most` of them per request."""
        return await gather(groups, self, ask, patience=patience, most=most)

    def forget(self, group: str) -> None:
        self.known.pop(group, None)
        self.cluster.coordinator_moved(Group(group) if self.kind == GROUP else Transaction(group))

    async def locate(self, groups: list[str]) -> tuple[list[tuple[Broker, list[str]]], dict[str, KcliError]]:
        """Return the coordinators with their groups, and the groups that have none now."""
        places, lost = await find(self.cluster, [group for group in groups if group not in self.known], self.kind)
        self.known.update((key, node.id) for key, node in places.items())
        by_node: dict[int, list[str]] = {}
        for group in groups:
            if group in self.known:
                by_node.setdefault(self.known[group], []).append(group)
        return await brokers_of(self.cluster, by_node, lost), lost


async def coordinators_of(
    cluster: Cluster, keys: Iterable[str], kind: int, *, patience: float = PATIENCE
) -> dict[str, Node | KcliError]:
    """Return the coordinator of each key of a kind; waits for one that is moving."""

    async def ask(_: Broker, some: list[str]) -> dict[str, Node | KcliError]:
        places, lost = await find(cluster, some, kind)
        return {**places, **lost}

    return await gather(keys, _Anyone(cluster), ask, patience=patience)


class _Anyone:
    """Sends requests that any broker can answer."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def locate(self, keys: list[str]) -> tuple[list[tuple[Broker, list[str]]], dict[str, KcliError]]:
        return [(await self._cluster.anyone(), keys)], {}

    def forget(self, key: str) -> None:
        """Do nothing: there is no cache."""


async def find(cluster: Cluster, keys: list[str], kind: int) -> tuple[dict[str, Node], dict[str, KcliError]]:
    """Return the coordinators of keys of a kind, and errors for keys without one. Asks once; the caller retries.

    Raises at once if the cluster was never reached, because waiting for a coordinator is pointless then.
    """
    if not keys:
        return {}, {}
    await cluster.nodes()
    from kcli.cluster.find_coordinators import find_coordinators  # not needed if the listing tells

    try:
        rows = await find_coordinators(await cluster.anyone(), keys, kind)
    except KcliError as error:
        return {}, dict.fromkeys(keys, error)
    places: dict[str, Node] = {}
    lost: dict[str, KcliError] = {}
    for key, row in rows.items():
        if isinstance(row, KcliError):
            lost[key] = row
        elif row.error_code:
            code, message = codes.of(row.error_code), row.error_message or None
            lost[key] = BrokerError(code, key, message, api=FIND_COORDINATOR, group=key, transactional_id=key)
        else:
            places[key] = Node(row.node_id, row.host, row.port, None)
    return places, lost
