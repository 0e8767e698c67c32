"""`async for message in consumer.messages()`, and topics that `client.consumer` names: the same promises as without
asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import TYPE_CHECKING

import pytest

import kcli

if TYPE_CHECKING:
    from kcli.sandbox.thread import SandboxThread

ROWS = 60
AT = [kcli.TopicPartition("rows", 0), kcli.TopicPartition("rows", 1)]


@pytest.fixture
def rows(sandbox: SandboxThread) -> SandboxThread:
    """Two partitions of a topic, in batches of seven records."""
    with kcli.SyncClient(sandbox.bootstrap) as kafka:
        kafka.admin.create_topics([kcli.NewTopic(topic="rows", partitions=2)])
        with kafka.producer(kcli.ProducerSettings(batch_records=7)) as producer:
            producer.send_all("rows", [(n % 2, None, None, b"%d" % n, ()) for n in range(ROWS)])
    return sandbox


def everything() -> list[bytes]:
    return sorted(b"%d" % n for n in range(ROWS))


async def test_topics_are_read_from_a_start_to_their_end(rows: SandboxThread) -> None:
    async with kcli.Client(rows.bootstrap) as client:
        async with client.consumer("rows", stop_at_end=True) as consumer:
            found = [message async for message in consumer.messages()]
        assert sorted(message.value or b"" for message in found) == everything()
        assert {(message.topic, message.partition) for message in found} == {("rows", 0), ("rows", 1)}
        async with client.consumer("rows", start=kcli.Bound("relative", 1), stop_at_end=True) as consumer:
            assert {message.value async for message in consumer.messages()} == {b"58", b"59"}
        async with client.consumer("rows", start="latest") as consumer, client.producer() as producer:
            await producer.send_and_wait("rows", b"new", partition=1)
            async for message in consumer.messages():
                assert message.value == b"new"
                break


async def test_a_topic_that_does_not_exist_ends_the_block_before_it_begins(sandbox: SandboxThread) -> None:
    async with kcli.Client(sandbox.bootstrap) as client:
        with pytest.raises(kcli.BrokerError, match="missing"):
            async with client.consumer("missing"):
                raise AssertionError("the block was entered")


async def committed(client: kcli.Client, group: str) -> list[int]:
    found = (await client.admin.committed([group])).check()[group]
    assert isinstance(found, kcli.Results)
    places = found.check()
    return [places[at].offset if at in places else 0 for at in AT]


class Member:
    """What a member of a group does at random, and its book: the records that are done, and those in hand."""

    def __init__(self, consumer: kcli.Consumer, chance: random.Random, done: list[bytes]) -> None:
        self.consumer, self.chance, self.done = consumer, chance, done
        self.hand: list[bytes] = []

    @property
    def all_taken(self) -> bool:
        return len({*self.done, *self.hand}) == ROWS

    def ask(self) -> None:
        self.done += self.hand
        self.hand = []

    async def poll(self) -> None:
        self.ask()
        got = await self.consumer.poll(1, max_records=self.chance.randrange(1, 9))
        self.hand = [record.value or b"" for one in got for batch in one.batches for record in batch]

    async def loop(self) -> None:
        left = self.chance.randrange(1, 15)
        async for message in self.consumer.messages():
            self.ask()
            self.hand = [message.value or b""]
            left -= 1
            if not left or self.all_taken:
                break

    async def work(self) -> None:
        """Some reading, perhaps a commit, and then a failure."""
        for _ in range(self.chance.randrange(1, 4)):
            if not self.all_taken:
                await (self.poll() if self.chance.random() < 0.3 else self.loop())
        if self.all_taken or self.chance.random() < 0.4:
            await self.consumer.commit()
            self.ask()
        raise ZeroDivisionError


@pytest.mark.parametrize("seed", range(12))
async def test_no_message_is_lost_or_committed_before_it_is_done(rows: SandboxThread, seed: int) -> None:
    """Loops that are left anywhere, polls and commits in between, and an exception at the end: every member goes on
    where the one before it was done."""
    chance, group = random.Random(seed), f"g{seed}"
    done: list[bytes] = []
    async with kcli.Client(rows.bootstrap) as client, asyncio.timeout(60):
        while len(set(done)) < ROWS:
            with contextlib.suppress(ZeroDivisionError):
                async with client.consumer("rows", group=group) as consumer:
                    await Member(consumer, chance, done).work()
            assert len(done) == len(set(done)), "a record was returned again that was done"
            assert sum(await committed(client, group)) == len(done), "what is done is committed, and nothing else"
    assert sorted(done) == everything()


async def test_a_loop_goes_on_after_another_way_of_reading(rows: SandboxThread) -> None:
    seen: list[bytes | None] = []
    async with kcli.Client(rows.bootstrap) as client:
        async with client.consumer("rows", stop_at_end=True) as consumer:
            async for message in consumer.messages():
                seen.append(message.value)
                break
            assert consumer.position(kcli.TopicPartition("rows", message.partition)) == message.offset + 1
            seen += [
                record.value for one in await consumer.poll(max_records=3) for batch in one.batches for record in batch
            ]
            consumer.pause(AT[1])
            consumer.resume(AT[1])
            seen += [message.value async for message in consumer.messages()]
            consumer.seek(AT[0], 0)
    assert sorted(value or b"" for value in seen) == everything()
