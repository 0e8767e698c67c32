"""A topic that is deleted is told to be gone, wherever it is shown; one that is created again is read from its
beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kcli.admin.topics.topics import NewTopic, create_topics, delete_topics, wait_for_topics
from kcli.client import Client
from kcli.settings import ProducerSettings
from kcli.tui import tail
from tests.tui.conftest import seen, shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(tail, "HEED", 0.1)
    with a_world() as one:
        yield one


async def create_again(client: Client) -> None:
    await create_topics(client.cluster, [NewTopic(topic="orders", partitions=2)])
    await wait_for_topics(client.cluster, {"orders": 2})
    async with client.producer(ProducerSettings()) as producer:
        for n in range(4):
            await producer.send("orders", b"another %d" % n, partition=n % 2)
        await producer.flush()


async def test_the_page_of_a_topic_that_is_deleted_says_so_and_shows_it_again(world: World) -> None:
    async with world.open() as pilot, Client(world.settings()) as client:
        await pilot.press("colon", *"topic orders", "enter")
        await shows(pilot, "OF THE LARGEST")
        await shows(pilot, "100")
        await delete_topics(client.cluster, ["orders"])
        text = await shows(pilot, "Topic orders: it is not there (any more)")
        assert "The topic was deleted, or never was." in text
        await create_again(client)
        await until(pilot, lambda: "not there" not in seen(pilot) and "OF THE LARGEST" in seen(pilot))


async def test_a_tail_of_a_topic_that_is_deleted_says_so_and_reads_the_new_one(world: World) -> None:
    async with world.open() as pilot, Client(world.settings()) as client:
        await create_topics(client.cluster, [NewTopic(topic="other", partitions=1)])
        await wait_for_topics(client.cluster, {"other": 1})
        await pilot.press("colon", *"records orders other", "enter")
        await shows(pilot, "order 199")
        await delete_topics(client.cluster, ["orders"])
        await shows(pilot, "✖ orders: the topic is not there (any more)")
        await create_again(client)
        text = await shows(pilot, "another 3")
        assert "another 0" in text
        await shows(pilot, "deleted and created again, read from the beginning")
        assert "not there" not in seen(pilot)
        async with client.producer(ProducerSettings()) as producer:
            await producer.send("other", b"goes on", partition=0)
        await shows(pilot, "goes on")
