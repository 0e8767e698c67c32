"""Coordinators: cached by key, looked up once for concurrent requests, forgotten when they prove wrong (C15)."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.backoff import Backoff, retry
from kcli.errors import BrokerError, KcliError
from kcli.model import Group, Node
from kcli.tasks import retrieve, share
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.cluster.metadata import Metadata
    from kcli.model import Broker, Transaction
    from kcli.settings import ClientSettings

    Key = Group | Transaction


LOG = Log("cluster")
JOIN_GROUP, INIT_PRODUCER_ID = 11, 22


class Coordinators:
    """`anyone` gives a broker to ask."""

    def __init__(self, anyone: Callable[[], Awaitable[Broker]], metadata: Metadata, settings: ClientSettings) -> None:
        self._anyone = anyone
        self._metadata = metadata
        self._settings = settings
        self._known: dict[tuple[int, str], Node] = {}
        self._finding: dict[tuple[int, str], asyncio.Task[Node]] = {}

    async def of(self, key: Key) -> Node:
        """The node that coordinates `key`. Raises BrokerError, ConnectError, DeadlineExceeded."""
        of = kind_and_name(key)
        if of in self._known:
            return self._known[of]
        task = self._finding.get(of)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._find(*of), name=f"find coordinator of {key.name}")
            self._finding[of] = task
            task.add_done_callback(retrieve)
            task.add_done_callback(lambda _: self._finding.pop(of, None))
        return await share(task)

    def moved(self, key: Key) -> None:
        """Forget it."""
        if self._known.pop(kind_and_name(key), None) is not None:
            LOG.info("%s: the coordinator is looked up again", key.name)

    async def _find(self, kind: int, name: str) -> Node:
        async def once() -> Node:
            return await find_coordinator(await self._anyone(), name, kind)

        settings = self._settings
        until = asyncio.get_running_loop().time() + settings.deadline
        coordinator = await retry(once, Backoff(settings.retry_backoff, settings.retry_backoff_max), until)
        node = self._known[kind, name] = self._metadata.topology.meet(coordinator)
        LOG.info("%s: broker %d at %s:%d coordinates", name, *node[:3])
        return node

    async def close(self) -> None:
        """End what is under way. Idempotent."""
        tasks = list(self._finding.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def kind_and_name(key: Key) -> tuple[int, str]:
    """What FindCoordinator calls it. A group and a transactional id of one name are two keys, though as tuples they
    are equal."""
    return 0 if isinstance(key, Group) else 1, key.name


async def find_coordinator(broker: Broker, key: str, kind: int) -> Node:
    """The node that coordinates `key`; `kind` is 0 for a group, 1 for a transactional id. Raises BrokerError
    (COORDINATOR_NOT_AVAILABLE while it has no coordinator)."""
    from kcli.cluster.find_coordinators import find_coordinators  # many commands need no coordinator

    about = f"{'group' if kind == 0 else 'transactional id'} {key}"
    row = (await find_coordinators(broker, [key], kind)).get(key)
    if isinstance(row, KcliError):
        raise row
    code = codes.COORDINATOR_NOT_AVAILABLE if row is None else codes.of(row.error_code)
    if row is None or code:
        # FindCoordinator takes DESCRIBE; members and producers ask it, which need more
        api = JOIN_GROUP if kind == 0 else INIT_PRODUCER_ID
        raise BrokerError(code, about, api=api, group=key, transactional_id=key)
    return Node(row.node_id, row.host, row.port, None)
