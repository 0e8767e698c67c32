"""A topic that does not exist yet: waited for up to max.block, unless the settings say that it is an error."""

from __future__ import annotations

import asyncio

import pytest

from kcli import codes
from kcli.errors import BrokerError
from kcli.settings import ProducerSettings
from tests.producer.world import World, balanced, now, play, producing


def test_D47_send_waits_for_a_topic_that_is_created_meanwhile() -> None:
    async def scene() -> None:
        world = World({"other": 1})
        async with producing(world, max_block=10.0) as producer:
            sending = asyncio.create_task(producer.send_and_wait("t", b"v"))
            asked = asyncio.create_task(producer.partitions("t"))
            await asyncio.sleep(3.0)
            assert not sending.done()
            assert not asked.done()
            assert world.refreshes <= 20, "it is asked for with growing pauses"
            world.add_partitions("t", 2)
            assert (await sending).topic == "t"
            assert list(await asked) == [0, 1]
            assert now() < 5.0
        balanced(producer)

    play(scene())


def test_D47_the_wait_ends_at_max_block_and_says_so() -> None:
    async def scene() -> None:
        world = World({"other": 1})
        async with producing(world, max_block=10.0) as producer:
            with pytest.raises(
                BrokerError, match=r"t: the topic does not exist.* within 10 s \(max.block.ms\)"
            ) as told:
                await producer.send("t", b"v")
            assert told.value.code is codes.UNKNOWN_TOPIC_OR_PARTITION
            assert 8.0 < now() <= 10.1
        balanced(producer)

    play(scene())


@pytest.mark.parametrize("how", ["setting", "block=False"])
def test_D47_without_the_wait_an_unknown_topic_is_an_error_at_once(how: str) -> None:
    async def scene() -> None:
        world = World({"other": 1})
        async with producing(world, wait_for_topic=how != "setting") as producer:
            with pytest.raises(BrokerError, match="UNKNOWN_TOPIC_OR_PARTITION"):
                await producer.send("t", b"v", block=how != "block=False")
            assert now() < 0.1

    play(scene())


def test_D47_D44_close_does_not_wait_for_a_topic_that_may_never_exist() -> None:
    async def scene() -> None:
        producer = producing(World({"other": 1}), max_block=60.0)
        await producer.start()
        sending = asyncio.create_task(producer.send("t", b"v"))
        await asyncio.sleep(1.0)
        await producer.close()
        assert now() < 3.0
        with pytest.raises(BrokerError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            await sending

    play(scene())


def test_D47_what_waiting_does_not_mend_is_an_error_at_once() -> None:
    class Forbidden(World):
        async def partitions(self, topic: str) -> list[int]:
            raise BrokerError(codes.TOPIC_AUTHORIZATION_FAILED, topic)

    async def scene() -> None:
        async with producing(Forbidden()) as producer:
            with pytest.raises(BrokerError, match="TOPIC_AUTHORIZATION_FAILED"):
                await producer.send("t", b"v")
            assert now() < 0.1

    play(scene())


def test_D47_a_command_does_not_wait_unless_it_is_asked_to() -> None:
    plain = ProducerSettings()
    assert plain.wait_for_topic
    assert not plain.for_command(max_block_given=False).wait_for_topic
    assert plain.for_command(max_block_given=False, wait_for_topic=True).wait_for_topic
    assert plain.for_command(max_block_given=False).max_block == plain.delivery_timeout
    assert plain.for_command(max_block_given=True).max_block == plain.max_block
