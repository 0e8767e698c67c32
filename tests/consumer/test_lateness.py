"""A loop that is held is told: to the user of a group's member, once in a while."""

from __future__ import annotations

import asyncio
import time

import pytest

from kcli.client import Client
from kcli.consumer.fetch import lateness
from kcli.consumer.share.consumer import ShareConsumer
from kcli.consumer.share.settings import ShareSettings
from kcli.model import TopicPartition
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, parse_bootstrap


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_B31_a_handler_that_holds_the_loop_is_told_once_in_a_while(
    monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    monkeypatch.setattr(lateness, "TICK", 0.01)
    monkeypatch.setattr(lateness, "LATE", 0.3)
    said: list[str] = []
    with SandboxThread(topics={"t": 1}) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            group = GroupSettings(group="g", protocol=protocol, auto_commit=False)
            async with client.consumer(settings=ConsumerSettings(fetch_max_wait=0.05), group=group) as consumer:
                consumer.on_notice = said.append
                await consumer.subscribe(["t"])
                async with asyncio.timeout(30):
                    while not consumer.assignment:
                        await consumer.poll(0.1)
                said.clear()  # a machine under load may be late by itself
                assert consumer._lateness is not None
                consumer._lateness._quiet_until = 0.0
                for _ in range(2):
                    time.sleep(0.8)  # noqa: ASYNC251 - the handler that is busy
                    await consumer.poll(0.05)
                assert consumer.assignment
    assert len(said) == 1
    assert said[0].startswith("the event loop ran ")
    assert "a handler was busy" in said[0]
    assert ("45 s" in said[0]) == (protocol == "classic")


async def test_B31_a_consumer_without_a_group_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It loses nothing, and `consume | less` holds its loop for as long as nobody turns the page."""
    monkeypatch.setattr(lateness, "TICK", 0.01)
    monkeypatch.setattr(lateness, "LATE", 0.3)
    said: list[str] = []
    with SandboxThread(topics={"t": 1}) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            async with client.consumer(settings=ConsumerSettings(fetch_max_wait=0.05)) as consumer:
                consumer.on_notice = said.append
                consumer.assign({TopicPartition("t", 0): 0})
                for _ in range(2):
                    time.sleep(0.8)  # noqa: ASYNC251 - the output that nobody reads
                    await consumer.poll(0.05)
    assert said == []


async def test_B31_a_share_member_hears_of_a_late_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lateness, "TICK", 0.01)
    monkeypatch.setattr(lateness, "LATE", 0.3)
    said: list[str] = []
    with SandboxThread(topics={"t": 1}) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            settings = ConsumerSettings(fetch_max_wait=0.05)
            async with client.share_consumer(settings, ShareSettings(group="g")) as consumer:
                consumer.on_notice = said.append
                await consumer.subscribe(["t"])
                await _hold_the_loop(consumer, said)
            assert consumer._lateness is not None
            assert consumer._lateness._timer.cancelled()
    assert len(said) == 1
    assert said[0].startswith("the event loop ran ")
    assert said[0].endswith("held for more than 30 s go to other members")


async def _hold_the_loop(consumer: ShareConsumer, said: list[str]) -> None:
    """Hold the loop twice; `said` has only what was said of that."""
    await consumer.poll(0.05)
    said.clear()  # a machine under load may be late by itself
    assert consumer._lateness is not None
    consumer._lateness._quiet_until = 0.0
    for _ in range(2):
        time.sleep(0.8)  # noqa: ASYNC251 - the handler that is busy
        await consumer.poll(0.05)


async def test_B31_a_loop_that_turns_in_time_is_not_told_and_the_watch_ends() -> None:
    said: list[str] = []
    watch = lateness.Lateness(said.append, lambda: "nothing")
    watch.close()
    assert watch._timer.cancelled()
    assert said == []
