"""A sandbox of its own for tests that change something, and the dashboard on it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from kcli.admin.groups.commits import committed_offsets, write_commits
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from kcli.tui.app import Dashboard
from kcli.tui.session import LiveSession
from tests.tui.conftest import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.pilot import Pilot

RECORDS = 100


class World:
    """`topic` has two partitions of 100 records; `group` has committed 40 in each."""

    topic = "orders"
    group = "billing"

    def __init__(self, sandbox: SandboxThread) -> None:
        self.sandbox = sandbox

    def settings(self, **changes: Any) -> ClientSettings:
        return ClientSettings(bootstrap=parse_bootstrap(self.sandbox.bootstrap)).replace(**changes)

    async def seed(self) -> None:
        async with Client(self.settings()) as client:
            async with client.producer(ProducerSettings()) as producer:
                for n in range(2 * RECORDS):
                    await producer.send(self.topic, b"order %d" % n, partition=n % 2)
                await producer.flush()
            at = {TopicPartition(self.topic, n): OffsetAndMetadata(offset=40) for n in range(2)}
            await write_commits(Coordinators(client.cluster), self.group, at)

    async def committed(self, group: str = "") -> dict[int, int]:
        """What the group has committed, by partition."""
        async with Client(self.settings()) as client:
            found = await committed_offsets(Coordinators(client.cluster), [group or self.group])
        commits: Any = found[group or self.group]
        return {at.partition: one.offset for at, one in commits.items()}

    @contextlib.asynccontextmanager
    async def open(
        self, *, size: tuple[int, int] = (120, 36), interval: float = 1.0, look: bool = True, app: Any = Dashboard,
        **changes: Any,
    ) -> AsyncIterator[Pilot[int]]:  # fmt: skip
        """The dashboard, with the first look in it; `changes` are of the ClientSettings."""
        board = app(LiveSession(self.settings(**changes), interval=interval))
        async with board.run_test(size=size, notifications=True) as pilot:
            if look:
                await until(pilot, lambda: board.state.snapshot is not None)
            yield pilot


@contextlib.contextmanager
def a_world(**options: Any) -> Any:
    """A seeded world; `options` are the sandbox's."""
    with SandboxThread(topics={World.topic: 2}, **options) as sandbox:
        world = World(sandbox)
        asyncio.run(world.seed())
        yield world
