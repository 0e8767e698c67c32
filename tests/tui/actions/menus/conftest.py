"""A cluster of four brokers with a row for each page that has a menu: records, a group, ACLs, quotas, subjects, a move
that takes its time."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from kcli.acls import Acl
from kcli.admin.acls import create_acls, describe_acls
from kcli.admin.groups.commits import write_commits
from kcli.admin.quotas import alter_quotas, entity
from kcli.admin.reassign import throttles
from kcli.admin.reassign.reassignments import alter_reassignments, list_reassignments
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.registry.listing.opened import OpenRegistry
from kcli.registry.settings import RegistrySettings
from kcli.sandbox.thread import SandboxThread
from kcli.schemas import AVRO, Schema
from kcli.security.http import origin_of
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from kcli.tui.app import Dashboard
from kcli.tui.session import LiveSession
from tests.tui.conftest import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from kcli.tui.session import Session

BOB = Acl("topic", "orders", "literal", "User:bob", "*", "read", "allow")
ANN = Acl("group", "billing", "literal", "User:ann", "10.0.0.7", "read", "allow")
MOVING = TopicPartition("payments", 0)
FIRST = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
SECOND = FIRST.replace("}]", '}, {"name": "note", "type": "string", "default": ""}]')


class Shop:
    """The cluster, and the dashboard on it."""

    def __init__(self, sandbox: SandboxThread) -> None:
        self.sandbox = sandbox
        self.option = f" --schema-registry {sandbox.registry_url}"

    def settings(self, **changes: Any) -> ClientSettings:
        return ClientSettings(bootstrap=parse_bootstrap(self.sandbox.bootstrap)).replace(**changes)

    def registry(self) -> OpenRegistry:
        return OpenRegistry(self._registry)

    @property
    def _registry(self) -> RegistrySettings:
        return RegistrySettings(origins=(origin_of(self.sandbox.registry_url),), disk=False)

    def session(self, **changes: Any) -> LiveSession:
        return LiveSession(self.settings(**changes), interval=0.5, registry=self._registry, registry_option=self.option)

    @contextlib.asynccontextmanager
    async def open(
        self,
        size: tuple[int, int] = (150, 40),
        profiles: dict[str, Callable[[], Session]] | None = None,
        **changes: Any,
    ) -> AsyncIterator[Pilot[int]]:
        """The dashboard, with the first snapshot in it."""
        board = Dashboard(self.session(**changes), profiles=profiles)
        async with board.run_test(size=size, notifications=True) as pilot:
            await until(pilot, lambda: board.state.snapshot is not None)
            yield pilot

    async def ask(self, question: Callable[[Client], Any]) -> Any:
        """What the cluster answers."""
        async with Client(self.settings()) as client:
            return await question(client)

    async def acls(self) -> set[Acl]:
        return set(await self.ask(lambda client: describe_acls(client.cluster)))

    async def seed(self) -> None:
        async with Client(self.settings()) as client:
            async with client.producer(ProducerSettings()) as producer:
                for n in range(40):
                    for topic in ("orders", "payments"):
                        await producer.send(topic, b'{"id": %d}' % n, b"k%d" % n, partition=n % 2)
                await producer.flush()
            at = {TopicPartition("orders", n): OffsetAndMetadata(offset=5) for n in range(2)}
            await write_commits(Coordinators(client.cluster), "billing", at)
            assert not any((await create_acls(client.cluster, [BOB, ANN])).values())
            alice = entity({"user": "alice"})
            assert not any((await alter_quotas(client.cluster, {alice: {"producer_byte_rate": 1048576.0}})).values())
            await self._move(client)
        registry = self.registry()
        for subject in ("orders-value", "payments-value"):
            for text in (FIRST, SECOND):
                await registry.client.register(subject, Schema(kind=AVRO, text=text))
        await registry.close()

    async def _move(self, client: Client) -> None:
        """Begin a move at a byte a second."""
        topic = (await describe_topics(client.cluster, [MOVING.topic]))[MOVING.topic]
        assert isinstance(topic, Topic)
        replicas = topic.partitions[0].replicas
        target = [*replicas[1:], *(node for node in (1, 2, 3, 4) if node not in replicas)]
        moves = throttles.moves({MOVING: target}, {MOVING: replicas}, {})
        await throttles.set_throttle(client.cluster, throttles.wanted(moves, 1))
        assert not any((await alter_reassignments(client.cluster, {MOVING: target})).values())
        assert MOVING in await list_reassignments(client.cluster)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with SandboxThread(
        brokers=4,
        topics={"orders": 2, "payments": 2},
        registry=True,
        control=True,
        super_users=["User:ANONYMOUS"],
    ) as sandbox:
        one = Shop(sandbox)
        asyncio.run(one.seed())
        yield one
