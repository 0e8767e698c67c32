"""Troubles for a cluster, drawn from a seeded die: nodes killed, shut down, frozen, one, two or all of them."""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import Awaitable, Callable

from kcli.client import Client
from kcli.model import Group, Transaction
from kcli.settings import ClientSettings, parse_bootstrap
from tests.kafka.cluster import Kafka, Node


async def coordinator(kafka: Kafka, of: Group | Transaction) -> Node:
    """The node that coordinates a group or a transactional id."""
    async with Client(ClientSettings(bootstrap=parse_bootstrap(kafka.bootstrap))) as client:
        wanted = (await client.cluster.coordinator(of)).node_id
    return next(node for node in kafka.nodes if node.id == wanted)


class Chaos:
    """Troubles for a cluster, drawn from a seeded die."""

    def __init__(self, kafka: Kafka, die: random.Random, group: str, transactional_id: str) -> None:
        self._kafka = kafka
        self._die = die
        self._coordinated = (Group(group), Transaction(transactional_id))
        self.troubles: list[Callable[[], Awaitable[str]]] = [
            self.kill, self.kill, self.rolling, self.freeze, self.freeze, self.flap, self.coordinator, self.majority,
            self.everybody,
        ]  # fmt: skip

    async def _pause(self, least: float, most: float) -> None:
        await asyncio.sleep(self._die.uniform(least, most))

    async def kill(self) -> str:
        node = self._die.choice(self._kafka.nodes)
        node.kill()
        await self._pause(0.0, 6.0)
        return f"node {node.id} killed"

    async def rolling(self) -> str:
        for node in self._kafka.nodes:
            await asyncio.to_thread(node.kill, signal.SIGTERM)
            await self._pause(0.0, 1.0)
            await asyncio.to_thread(self._kafka.heal)
        return "rolling restart"

    async def coordinator(self) -> str:
        of = self._die.choice(self._coordinated)
        node = await coordinator(self._kafka, of)
        node.kill()
        await self._pause(0.0, 6.0)
        return f"coordinator of {of.name} (node {node.id}) killed"

    async def majority(self) -> str:
        killed = self._die.sample(self._kafka.nodes, 2)
        for node in killed:
            node.kill()
        await self._pause(0.0, 6.0)
        return f"nodes {' and '.join(str(node.id) for node in killed)} killed"

    async def freeze(self) -> str:
        node = self._die.choice(self._kafka.nodes)
        node.pause()
        await self._pause(0.5, 8.0)
        node.resume()
        return f"node {node.id} frozen"

    async def flap(self) -> str:
        node = self._die.choice(self._kafka.nodes)
        for _ in range(5):
            node.pause()
            await self._pause(0.1, 1.0)
            node.resume()
            await self._pause(0.05, 0.5)
        return f"node {node.id} flapped"

    async def everybody(self) -> str:
        for node in self._kafka.nodes:
            node.pause()
        await self._pause(0.5, 6.0)
        for node in self._kafka.nodes:
            node.resume()
        return "everybody frozen"
