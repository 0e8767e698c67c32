"""Leaving a group while it rebalances: the last commit may come too late, which is no error."""

from __future__ import annotations

import pytest

import kcli
from kcli import codes
from kcli.sandbox.sandbox import Sandbox

REFUSALS = {
    "classic": (codes.ILLEGAL_GENERATION, codes.UNKNOWN_MEMBER_ID, codes.REBALANCE_IN_PROGRESS),
    "consumer": (codes.UNKNOWN_MEMBER_ID,),
}
CASES = [(protocol, code) for protocol, refusals in REFUSALS.items() for code in refusals]


@pytest.mark.usefixtures("leaping_clock")
@pytest.mark.parametrize(("protocol", "code"), CASES)
async def test_a_last_commit_that_a_rebalance_overtook_is_a_notice(protocol: str, code: codes.ErrorCode) -> None:
    async with Sandbox(topics={"t": 1}, rebalance_delay=0.0) as sandbox, kcli.Client(sandbox.bootstrap) as client:
        async with client.producer() as producer:
            await producer.send_and_wait("t", b"1")
        notices: list[str] = []
        async with client.consumer(group=kcli.GroupSettings(group="g", protocol=protocol)) as consumer:
            consumer.on_notice = notices.append
            await consumer.subscribe(["t"])
            while not await consumer.poll(1.0):
                pass
            await consumer.poll(0.1)
            sandbox.faults.error("OffsetCommit", code, times=1000)
        assert len(notices) == 1
        assert notices[0].startswith("the last commit was refused")


@pytest.mark.usefixtures("leaping_clock")
async def test_any_other_refusal_of_the_last_commit_is_raised() -> None:
    async with Sandbox(topics={"t": 1}, rebalance_delay=0.0) as sandbox, kcli.Client(sandbox.bootstrap) as client:
        async with client.producer() as producer:
            await producer.send_and_wait("t", b"1")
        consumer = client.consumer(group=kcli.GroupSettings(group="g"))
        await consumer.subscribe(["t"])
        while not await consumer.poll(1.0):
            pass
        await consumer.poll(0.1)
        sandbox.faults.error("OffsetCommit", codes.GROUP_AUTHORIZATION_FAILED, times=1000)
        with pytest.raises(kcli.BrokerError, match="GROUP_AUTHORIZATION_FAILED"):
            await consumer.close()


@pytest.mark.parametrize("read", [1, 2], ids=["in the middle of a fetch", "at its end"])
def test_a_sync_consumer_leaves_in_order_though_its_commit_was_refused(read: int) -> None:
    with (
        kcli.SandboxThread(topics={"t": 1}, rebalance_delay=0.0) as sandbox,
        kcli.SyncClient(sandbox.bootstrap) as kafka,
    ):
        with kafka.producer() as producer:
            producer.send_records("t", [(0, None, None, value, ()) for value in (b"1", b"2")])
        with kafka.consumer("t", group="g") as consumer:
            assert [next(consumer).value for _ in range(read)] == [b"1", b"2"][:read]
            sandbox.faults.error("OffsetCommit", codes.ILLEGAL_GENERATION, times=1000)
