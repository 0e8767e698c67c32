"""Transactions after kill -9 and after a clean restart: what was decided is completed, what was open times out."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kcli import codes
from kcli.sandbox import Sandbox
from tests.sandbox.client import Peer
from tests.sandbox.log.test_recovery import _At
from tests.sandbox.transacting import Producer, begun, end_of, position_of, read, ready


@pytest.mark.process
async def test_an_open_transaction_and_the_stable_offset_survive_kill_9(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kcli.sandbox", "--data", str(tmp_path), "--topic", "t:1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: ASYNC220 it has one line to say
        assert process.stdout is not None
        port = int(json.loads(process.stdout.readline())["bootstrap"].rpartition(":")[2])
        async with Peer(_At(port)) as peer:  # type: ignore[arg-type]
            done, lost, open_ = (Producer(peer, name) for name in ("done", "lost", "open"))
            for one in (done, lost, open_):
                await ready(one)
                await begun(one)
            assert await done.position(3) == 0
            assert await open_.position(4) == 0
            assert await done.commit() == 0
            assert await lost.abort() == 0
            process.send_signal(signal.SIGKILL)
            process.wait()
    async with Sandbox(data=tmp_path) as sandbox, Peer(sandbox) as peer:
        assert await end_of(peer) == 2
        assert await read(peer) == [0]
        assert (await position_of(peer, stable=True))[0] == codes.UNSTABLE_OFFSET_COMMIT.number
        assert await position_of(peer) == (0, 3)
        open_.peer = done.peer = peer
        assert await open_.send() == 0
        assert await open_.commit() == 0
        assert await read(peer) == [0, 2, 5]
        assert await position_of(peer, stable=True) == (0, 4)
        await begun(done)
        assert await done.commit() == 0


async def test_an_open_transaction_is_aborted_at_its_timeout_after_a_restart(tmp_path: Path) -> None:
    async with Sandbox(data=tmp_path, topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer, timeout_ms=100)
        await begun(producer)
    async with Sandbox(data=tmp_path) as sandbox, Peer(sandbox) as peer:
        row = await asyncio.wait_for(peer.fetch(0, isolation=1, wait_ms=60_000), 10)
        assert row.last_stable_offset == 2
        assert await read(peer) == []


@pytest.mark.parametrize("commit", [True, False])
async def test_a_decided_transaction_is_completed_after_a_restart(tmp_path: Path, commit: bool) -> None:
    async with Sandbox(data=tmp_path, topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer)
        await begun(producer)
        assert await producer.position(7) == 0
        sandbox.cluster.transactions.completion.hold()
        assert await producer.end(commit=commit) == 0
        assert sandbox.topics.partition("t", 0).log.end == 1
    async with Sandbox(data=tmp_path) as sandbox, Peer(sandbox) as peer:
        assert await end_of(peer) == 2
        assert await read(peer) == ([0] if commit else [])
        assert await position_of(peer, stable=True) == (0, 7 if commit else -1)
        producer.peer = peer
        await begun(producer)
        assert await producer.commit() == 0
    async with Sandbox(data=tmp_path) as sandbox, Peer(sandbox) as peer:
        assert await read(peer) == ([0, 2] if commit else [2])


async def test_a_step_that_cannot_be_written_down_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    async with Sandbox(data=tmp_path, topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer)
        await begun(producer)

        def refuse(kind: str, facts: object) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(sandbox.cluster.journal._directory, "note", refuse)
            assert await producer.commit() == codes.KAFKA_STORAGE_ERROR.number
        assert sandbox.cluster.transactions.by_id["tx"].state == "Ongoing"
        assert await producer.commit() == 0
        assert await read(peer) == [0]


async def test_a_truncated_log_counts_its_transactions_again() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        one, two = Producer(peer, "one"), Producer(peer, "two")
        await ready(one)
        await ready(two)
        await begun(one)  # 0
        assert await one.abort() == 0  # 1
        await begun(two)  # 2
        await begun(one)  # 3
        assert await two.abort() == 0  # 4
        log = sandbox.topics.partition("t", 0).log
        assert log.stable == 3
        log.truncate(4)
        assert (log.stable, list(log.aborted_index.open)) == (2, [two.id, one.id])
        assert [each.first for each in log.aborted_index.aborted(0, 4)] == [0]
        log.truncate(1)
        assert (log.stable, log.aborted_index.aborted(0, 4)) == (0, [])
        log.truncate(0)
        assert log.stable == log.end == 0
