"""The programs in examples/ do what they say."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kcli.cli.main import main
from kcli.client import Client
from kcli.formats import avro
from kcli.model import TopicPartition
from kcli.sandbox import Sandbox
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, GroupSettings, ProducerSettings, parse_bootstrap
from kcli.sync.client import SyncClient

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


def run_example(name: str, *words: str) -> str:
    """What an example prints, up to its end."""
    line = [sys.executable, str(ROOT / "examples" / f"{name}.py"), *words]
    done = subprocess.run(
        line, capture_output=True, text=True, timeout=60, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    return done.stdout


@pytest.mark.process
def test_what_is_read_is_billed_exactly_once() -> None:
    with (
        SandboxThread(topics={"orders": 2, "bills": 1}, rebalance_delay=0) as sandbox,
        SyncClient(sandbox.bootstrap) as kafka,
    ):
        with kafka.producer() as producer:
            producer.send_all("orders", [(n % 2, None, None, b"%d" % n, ()) for n in range(50)])
        for _ in range(2):
            printed = run_example("exactly_once", sandbox.bootstrap, "orders", "bills", "billing")
            assert printed.endswith("0 done\n")
        with kafka.consumer("bills", stop_at_end=True) as consumer:
            assert sorted(message.value for message in consumer) == sorted(b"bill for %d" % n for n in range(50))


@pytest.mark.process
def test_each_request_gets_its_reply() -> None:
    with SandboxThread(topics={"requests": 2, "replies": 2}) as sandbox:
        printed = run_example("request_reply", sandbox.bootstrap, "requests", "replies", "20")
    assert printed.splitlines() == [f"REQUEST {number}" for number in range(20)]


@pytest.mark.process
def test_a_file_is_loaded_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b"".join(b"%d\n" % number for number in range(1000)))
    with SandboxThread(topics={"lines": 2}) as sandbox, SyncClient(sandbox.bootstrap) as kafka:
        assert run_example("load_file", sandbox.bootstrap, "lines", str(tmp_path / "lines")) == "1000 stored, 0 not\n"
        with kafka.consumer("lines", stop_at_end=True) as consumer:
            assert sorted(int(message.value) for message in consumer) == [*range(1000)]


@pytest.mark.process
def test_avro_is_printed_by_the_schemas_of_the_registry() -> None:
    schema = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
    with SandboxThread(topics={"orders": 1}, registry=True) as sandbox, SyncClient(sandbox.bootstrap) as kafka:
        with kafka.producer(value=avro(sandbox.registry_url, schema=schema, register=True)) as producer:
            producer.send_all("orders", [(0, None, None, {"id": number}, ()) for number in (7, 8)])
        printed = run_example("avro_consumer", sandbox.bootstrap, sandbox.registry_url, "orders")
    assert printed == "0 {'id': 7}\n1 {'id': 8}\n"
    source = (ROOT / "examples/avro_consumer.py").read_text()
    code = [line for line in source.partition("sys.argv[1:]\n")[2].splitlines() if line.strip()]
    assert len(code) <= 4, "with its two imports, an Avro consumer is six lines"


@pytest.mark.process
async def test_a_tail_prints_what_its_filter_lets_through_until_it_is_interrupted() -> None:
    async with Sandbox(topics={"events": 2}) as sandbox, Client(sandbox.bootstrap) as client:
        async with client.producer() as producer:
            await producer.send_and_wait("events", b'{"user": "ann", "n": 0}', partition=0)
            await producer.send_and_wait("events", b"no json", partition=0)
            program = await started(str(ROOT / "examples/tail.py"), sandbox.bootstrap, "events", "ann")
            assert program.stdout is not None
            async with asyncio.timeout(30):
                assert await program.stdout.readline() == b"events[0] 0: {'user': 'ann', 'n': 0}\n"
                await producer.send_and_wait("events", b'{"user": "bob", "n": 1}', partition=1)
                await producer.send_and_wait("events", b'{"user": "ann", "n": 2}', partition=1)
                assert await program.stdout.readline() == b"events[1] 1: {'user': 'ann', 'n': 2}\n"
                program.send_signal(signal.SIGINT)
                assert await program.wait() == 0


@pytest.mark.process
def test_a_script_administers_a_cluster() -> None:
    with SandboxThread(topics={"orders": 1}) as sandbox, SyncClient(sandbox.bootstrap) as kafka:
        with kafka.producer() as producer:
            producer.send_all("orders", [(0, None, None, b"value", ())] * 10)
        kafka.admin.commit("billing", {TopicPartition("orders", 0): 7}).check()
        printed = run_example("administration", sandbox.bootstrap, "archive", "billing")
        assert len(kafka.admin.topics(["archive"]).check()["archive"].partitions) == 3
    assert printed == "billing: 3, ORPHANED\norders[0]: read to 7 of 10\norders[0]: begins at 7\n"
