"""What the sandbox finds in a client that says it is kcli."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from kcli.proto.messages.api_versions import ApiVersionsRequest
from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kcli.proto.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kcli.proto.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kcli.sandbox import Sandbox
from tests.sandbox.client import Peer, batch

pytestmark = pytest.mark.kcli_violates
ROOT = Path(__file__).resolve().parents[3]
HELLO = ApiVersionsRequest(client_software_name="kcli", client_software_version="1")


def records(sequence: int, epoch: int = 0, value: bytes = b"v") -> bytes:
    return batch(1, producer=7, epoch=epoch, sequence=sequence, value=value)


async def test_a_client_that_keeps_the_rules_violates_nothing() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.ask(HELLO)
        for data in (records(0), records(1), records(1), records(2), records(0, 1), records(1, 1), batch(1)):
            assert (await peer.produce(data)).error_code == 0
        assert sandbox.violations == []


async def test_B3_a_number_left_out_is_found() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        await peer.ask(HELLO)
        peer._session._next_id = 5
        await peer.ask(HELLO)
        assert sandbox.violations == ["broker 1: request 5 after request 0"]
        peer._session._next_id = 6
        peer._session._next_id = 0x7FFFFFFF
        await peer.ask(HELLO)
        await peer.ask(HELLO)
        assert len(sandbox.violations) == 2, "after the highest comes 0"


@pytest.mark.parametrize(("name", "found"), [("kcli", 1), ("librdkafka", 0)])
async def test_B7_more_than_five_in_flight_are_found_for_kcli_only(name: str, found: int) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.ask(ApiVersionsRequest(client_software_name=name, client_software_version="1"))
        sandbox.faults.wire.delay("Produce", 0.02)
        for _ in range(6):
            part = PartitionProduceData(index=0, records=batch(1))
            request = ProduceRequest(acks=-1, topic_data=[TopicProduceData(name="t", partition_data=[part])])
            peer.writer.writelines(bytes(one) for one in peer._session.send(request, 12))
        async with asyncio.timeout(5):
            for _ in range(6):
                size = int.from_bytes(await peer.reader.readexactly(4), "big")
                await peer.reader.readexactly(size)
        assert len(sandbox.violations) == found
        assert all("6 Produce requests in flight" in one for one in sandbox.violations)


@pytest.mark.parametrize(
    ("batches", "says"),
    [
        ([records(3)], "sequence 3 instead of 0"),
        ([records(0), records(1), records(2, 1)], None),  # refused by the broker: an error, and nothing was stored
        ([records(0), records(0, value=b"w")], "sequence 0 was sent again with different bytes"),
    ],
)
async def test_D19_D24_sequences_are_followed_per_producer_epoch_and_partition(
    batches: list[bytes], says: str | None
) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.ask(HELLO)
        for data in batches:
            await peer.produce(data)
        assert sandbox.violations == ([] if says is None else [f"broker 1: producer 7 epoch 0, t[0]: {says}"])


async def test_D27_after_the_broker_has_forgotten_any_beginning_is_right() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.ask(HELLO)
        await peer.produce(records(0))
        await peer.produce(records(1))
        sandbox.faults.logs.forget_producers("t", 0)
        assert (await peer.produce(records(0))).error_code == 0
        assert sandbox.violations == []


async def test_C4_records_for_a_broker_that_never_led_are_found() -> None:
    async with Sandbox(brokers=3, topics={"t": 1}) as sandbox, Peer(sandbox, 1) as old, Peer(sandbox, 2) as other:
        await old.ask(HELLO)
        await other.ask(HELLO)
        sandbox.faults.cluster.move_leader("t", 0, 3)
        assert (await old.produce(batch(1))).error_code == 6
        assert sandbox.violations == [], "it led before, and not everybody has heard"
        assert (await other.produce(batch(1))).error_code == 6
        assert sandbox.violations == ["broker 2: records for t[0], which this broker has never led"]


async def join(peer: Peer, member: str, metadata: bytes = b"") -> Any:
    protocol = JoinGroupRequestProtocol(name="range", metadata=metadata)
    request = JoinGroupRequest(
        group_id="g", session_timeout_ms=10_000, rebalance_timeout_ms=1_000, member_id=member,
        protocol_type="consumer", protocols=[protocol],
    )  # fmt: skip
    return await peer.ask(request)


async def test_E40_a_commit_for_a_generation_that_is_over_is_found() -> None:
    async with Sandbox(topics={"t": 1}, rebalance_delay=0) as sandbox, Peer(sandbox) as peer:
        await peer.ask(HELLO)
        member = (await join(peer, "")).member_id
        first = await join(peer, member)
        second = await join(peer, member, b"another subscription")
        for generation in (second.generation_id, first.generation_id):
            row = OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
            await peer.ask(
                OffsetCommitRequest(
                    group_id="g", generation_id_or_member_epoch=generation, member_id=member,
                    topics=[OffsetCommitRequestTopic(name="t", partitions=[row])],
                ),
                9,
            )  # fmt: skip
        assert sandbox.violations == [f"broker 1: {member} commits for generation 1 of g, but is in generation 2"]


SUITE = """
import pytest

def test_bad(kcli_sandbox):
    kcli_sandbox.call(lambda inside: inside.violations.append("broker 1: it did"))

@pytest.mark.kcli_violates
def test_on_purpose(kcli_sandbox):
    kcli_sandbox.call(lambda inside: inside.violations.append("broker 1: it did"))

def test_good(kcli_sandbox):
    assert kcli_sandbox.violations == []
"""


@pytest.mark.process
def test_the_fixture_of_the_plugin_fails_a_test_whose_client_broke_the_rules(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SUITE)
    words = [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-p", "no:cacheprovider", str(tmp_path)]
    plugin = [] if distributed() else ["-p", "kcli.sandbox.pytest"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "CI": ""}
    done = subprocess.run([*words, *plugin], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert "3 passed, 1 error" in done.stdout, done.stdout + done.stderr
    assert "kcli broke the rules of the protocol: broker 1: it did" in done.stdout
    assert "test_bad" in done.stdout.splitlines()[-2]


def distributed() -> bool:
    """Whether kcli is installed, and pytest finds the plugin by itself."""
    return any(one.value == "kcli.sandbox.pytest" for one in entry_points(group="pytest11"))
