"""The programs in examples/ do what they say."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from kcli.client import Client
from kcli.model import TopicPartition
from kcli.sandbox import Sandbox
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, ProducerSettings, parse_bootstrap

ROOT = Path(__file__).parent.parent


async def test_A3_01_two_that_share_the_partitions_lose_nothing_and_end_with_their_commits_made() -> None:
    async with Sandbox(topics={"orders": 4}, rebalance_delay=0) as sandbox:
        settings = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))
        async with Client(settings) as client, client.producer(ProducerSettings(linger=0)) as producer:
            words = [str(ROOT / "examples/workers.py"), sandbox.bootstrap, "billing", "orders"]
            programs = [await started(*words) for _ in range(2)]
            heard: list[set[int]] = [set(), set()]
            ears = [asyncio.create_task(hear(one, seen)) for one, seen in zip(programs, heard, strict=True)]
            sent = 0
            try:
                async with asyncio.timeout(30):
                    while not all(heard):  # both have a part of it
                        for n in range(8):
                            await producer.send("orders", b"%d" % (sent + n), partition=n % 4)
                        sent += 8
                        await asyncio.sleep(0.02)
                    while len(heard[0] | heard[1]) < sent:  # noqa: ASYNC110 - the ears set no event
                        await asyncio.sleep(0.02)
                    for one in programs:
                        one.send_signal(signal.SIGINT)
                    assert [await one.wait() for one in programs] == [0, 0]
                    await asyncio.gather(*ears)
            finally:
                for one in programs:
                    if one.returncode is None:
                        one.kill()
                        await one.wait()
            async with client.consumer(ConsumerSettings(), GroupSettings(group="billing")) as consumer:
                committed = await consumer.committed([TopicPartition("orders", n) for n in range(4)])
                assert [one and one.offset for one in committed.values()] == [sent // 4] * 4


async def started(*words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, *words, stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )


async def hear(program: asyncio.subprocess.Process, seen: set[int]) -> None:
    """What it says, until it ends."""
    assert program.stdout is not None
    async for line in program.stdout:
        seen.add(int(line.split()[-1]))
