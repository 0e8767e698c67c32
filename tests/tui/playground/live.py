"""What of the playground moves: the demo's scene (one group keeps up, one grows, one is stuck, one waits for a
transaction), and groups beside it that keep up, lag steadily, go back, and never commit."""

from __future__ import annotations

import asyncio

from kcli.cli.commands.demo.scene import play as play_scene
from kcli.cli.commands.demo.scene import produce, read
from kcli.client import Client
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, parse_bootstrap

AGAIN = 20.0
"""Seconds after which `replayer` goes back to the beginning."""
PRODUCED = {"checkout.sessions": 60, "search.queries": 120, "devices.telemetry.raw": 200, "email.outbox": 10}
"""Records a second."""
READERS = {"checkout": "checkout.sessions", "telemetry-store": "devices.telemetry.raw", "mailer": "email.outbox"}
"""Groups that keep up, and their topics."""


async def play(bootstrap: str) -> None:
    """Until cancelled. The topics are there."""
    async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap), client_id="playground")) as client:
        async with asyncio.TaskGroup() as parts:
            parts.create_task(play_scene(bootstrap))
            for topic, many in PRODUCED.items():
                parts.create_task(produce(client, topic, many, _event))
            for group, topic in READERS.items():
                parts.create_task(read(client, topic, group, f"{group}-1"))
            parts.create_task(read(client, "search.queries", "trends", "trends-1", most=PRODUCED["search.queries"]))
            parts.create_task(_replay(client))
            parts.create_task(_never_commit(client))


async def _replay(client: Client) -> None:
    """A group that is set back again and again: its member seeks to the beginning and commits that."""
    async with client.consumer(
        settings=ConsumerSettings(reset="earliest"), group=GroupSettings(group="replayer")
    ) as consumer:
        await consumer.subscribe(["audit.log"])
        while True:
            until = asyncio.get_running_loop().time() + AGAIN
            while asyncio.get_running_loop().time() < until:
                await consumer.poll(1.0)
            await consumer.commit()
            for at in consumer.assignment:
                consumer.seek(at, 0)
            await consumer.commit(dict.fromkeys(consumer.assignment, 0))


async def _never_commit(client: Client) -> None:
    settings = GroupSettings(group="fresh-deploy", auto_commit=False)
    async with client.consumer(group=settings) as consumer:
        await consumer.subscribe(["recommendations"])
        while True:
            await consumer.poll(1.0)


def _event(number: int) -> tuple[str, dict[str, object]]:
    return f"key-{number % 500}", {"event": number, "kind": ("view", "add", "buy")[number % 3], "ms": number * 7 % 900}
