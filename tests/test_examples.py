"""The programs in examples/ do what they say."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from kcli.cli.main import main
from kcli.client import Client
from kcli.model import TopicPartition
from kcli.sandbox import Sandbox
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, GroupSettings, ProducerSettings, parse_bootstrap

ROOT = Path(__file__).parent.parent


@pytest.mark.process
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
            async with client.consumer(group=GroupSettings(group="billing")) as consumer:
                committed = await consumer.committed([TopicPartition("orders", n) for n in range(4)])
                assert [one and one.offset for one in committed.values()] == [sent // 4] * 4


def test_a_cluster_is_made_as_the_files_say_and_drift_is_exit_code_3(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SHOP_BILLING_PASSWORD", "one")
    monkeypatch.setenv("SHOP_CHECKOUT_PASSWORD", "two")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = str(ROOT / "examples/cluster")
    with SandboxThread() as sandbox:
        monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
        assert main(["diff", folder]) == 3
        assert main(["apply", folder, "--execute"]) == 0
        assert capsys.readouterr().out.count("created") == 28
        assert main(["diff", folder, "--prune"]) == 0
        assert main(["topics", "create", "shop.surplus"]) == 0
        assert main(["configs", "set", "topic", "shop.orders", "retention.ms=1", "--execute"]) == 0
        capsys.readouterr()
        assert main(["diff", folder, "--prune", "--format", "plain"]) == 3
        told = [line.split("\t")[:4] for line in capsys.readouterr().out.splitlines()]
        assert told == [
            ["~", "topic", "shop.orders", "retention.ms"], ["-", "topic", "shop.surplus", "partitions"],
            ["-", "topic", "shop.surplus", "records"],
        ]  # fmt: skip


async def started(*words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, *words, stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )


async def hear(program: asyncio.subprocess.Process, seen: set[int]) -> None:
    """What it says, until it ends."""
    assert program.stdout is not None
    async for line in program.stdout:
        seen.add(int(line.split()[-1]))


@pytest.mark.process
async def test_a_broker_of_ones_own_sees_every_request() -> None:
    async with Sandbox(topics={"orders": 1}) as sandbox:
        program = await started(str(ROOT / "examples/own_broker.py"), sandbox.bootstrap, "orders")
        async with asyncio.timeout(30):
            out, _ = await program.communicate()
    lines = out.decode().splitlines()
    assert lines[0].startswith("stored at orders [0] 0; the topic: Topic(topic='orders'")
    assert {line.partition(":")[0] for line in lines[1:]} >= {"Metadata", "Produce", "InitProducerId"}
    assert program.returncode == 0
