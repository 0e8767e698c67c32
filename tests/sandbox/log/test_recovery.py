"""What is on disk after kill -9, a torn tail, and a second sandbox on the same directory."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kcli.errors import UsageError
from kcli.proto.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kcli.sandbox import Sandbox
from kcli.sandbox.log import recovery
from kcli.sandbox.log.recovery import CopiedSegment, FileSegment
from tests.sandbox.client import Peer, batch


@pytest.fixture(autouse=True, params=[FileSegment, CopiedSegment])
def segment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test on files as they are on Linux and macOS, and as on Windows."""
    monkeypatch.setattr(recovery, "SEGMENT", request.param)


def segments(data: Path, topic: str = "t") -> list[Path]:
    return list(data.glob(f"topics/{topic}-*/0/*.log"))


class _At:
    """Enough of a sandbox for a Peer: where a process listens."""

    def __init__(self, port: int) -> None:
        self.node_id, self.port = 1, port
        self.brokers = [self]


@pytest.mark.process
async def test_acknowledged_records_offsets_topics_and_sequences_survive_kill_9(tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = [sys.executable, "-m", "kcli.sandbox", "--data", str(data), "--topic", "t:2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: ASYNC220 it has one line to say
        assert process.stdout is not None
        port = int(json.loads(process.stdout.readline())["bootstrap"].rpartition(":")[2])
        async with Peer(_At(port)) as peer:  # type: ignore[arg-type]
            for n in range(50):
                assert (await peer.produce(batch(2, producer=9, epoch=0, sequence=2 * n), partition=1)).error_code == 0
            position = OffsetCommitRequestPartition(partition_index=1, committed_offset=42, committed_metadata="m")
            topic = OffsetCommitRequestTopic(name="t", partitions=[position])
            answer = await peer.ask(OffsetCommitRequest(group_id="g", topics=[topic]), 9)
            assert answer.topics[0].partitions[0].error_code == 0
            process.send_signal(signal.SIGKILL)
            process.wait()
    async with Sandbox(data=data) as again, Peer(again) as peer:
        log = again.topics.partition("t", 1).log
        assert (log.start, log.end, len(again.topics.by_name["t"].partitions)) == (0, 100, 2)
        assert tuple(again.cluster.groups.offsets.of("g")[("t", 1)]) == (42, -1, "m")
        retried = await peer.produce(batch(2, producer=9, epoch=0, sequence=98), partition=1)
        assert (retried.error_code, retried.base_offset) == (0, 98)
        assert (await peer.produce(batch(2, producer=9, epoch=0, sequence=100), partition=1)).base_offset == 100
        assert again.topics.partition("t", 1).leader_epoch > 0
    assert data.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("torn", [b"\0" * 10, batch(5)[:-3], batch(5)[:30], b"\xff" * 200])
async def test_a_torn_tail_is_cut_at_the_last_whole_batch(tmp_path: Path, torn: bytes) -> None:
    async with Sandbox(data=tmp_path, topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.produce(batch(3))
        await peer.produce(batch(3))
        used = sandbox.topics.partition("t", 0).log.size
    [segment] = segments(tmp_path)
    with segment.open("r+b") as file:
        file.seek(used)
        file.write(torn)
    async with Sandbox(data=tmp_path) as sandbox, Peer(sandbox) as peer:
        assert sandbox.topics.partition("t", 0).log.end == 6
        assert (await peer.produce(batch(1))).base_offset == 6
        assert len((await peer.fetch(0)).records or b"") == used + len(batch(1))
    async with Sandbox(data=tmp_path) as sandbox:
        assert sandbox.topics.partition("t", 0).log.end == 7


async def test_a_torn_journal_line_is_dropped(tmp_path: Path) -> None:
    async with Sandbox(data=tmp_path, topics={"t": 1}):
        pass
    with (tmp_path / "journal").open("ab") as file:
        file.write(b'["topic",{"na')
    async with Sandbox(data=tmp_path) as sandbox:
        assert list(sandbox.topics.by_name) == ["t"]


async def test_log_starts_and_deleted_topics_stay_as_they_were(tmp_path: Path) -> None:
    async with Sandbox(data=tmp_path, topics={"t": 1, "gone": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.produce(batch(10))
        await peer.produce(batch(10), topic="gone")
        sandbox.topics.delete_records(sandbox.topics.partition("t", 0), -1)
        sandbox.topics.delete(sandbox.topics.by_name["gone"])
    async with Sandbox(data=tmp_path) as sandbox, Peer(sandbox) as peer:
        assert list(sandbox.topics.by_name) == ["t"]
        log = sandbox.topics.partition("t", 0).log
        assert (log.start, log.end) == (10, 10)
        assert (await peer.produce(batch(1))).base_offset == 10
    assert segments(tmp_path, "gone") == []


async def test_a_directory_belongs_to_one_sandbox(tmp_path: Path) -> None:
    async with Sandbox(data=tmp_path):
        with pytest.raises(UsageError, match="in use by another sandbox"):
            await Sandbox(data=tmp_path).start()
    async with Sandbox(data=tmp_path):
        pass


async def test_a_sandbox_that_cannot_start_lets_the_directory_go(tmp_path: Path) -> None:
    async with Sandbox() as taken:
        with pytest.raises(OSError, match="Address already in use"):
            await Sandbox(port=taken.brokers[0].port, data=tmp_path).start()
    async with Sandbox(data=tmp_path):
        pass


async def test_client_metrics_are_as_they_were_set(tmp_path: Path) -> None:
    for _ in range(2):  # the second time from the journal that was rewritten at start
        async with Sandbox(data=tmp_path) as sandbox:
            kept = sandbox.cluster.named_configs.metrics_altered("slow", [("interval.ms", 0, "5000")])
            sandbox.cluster.journal.note("client metrics", {"name": "slow", "configs": kept})
    async with Sandbox(data=tmp_path) as sandbox:
        assert sandbox.cluster.named_configs.metrics == {"slow": {"interval.ms": "5000"}}
