"""Transactions over the wire, on the sandbox and its faults: what a read_committed reader sees at the end."""

from __future__ import annotations

import asyncio

import pytest

from kcli import codes
from kcli.asking.offsets import LATEST, list_offsets
from kcli.client import Client
from kcli.grammar.bound import Bound
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.producer.transactions.state import AbortRequired
from kcli.sandbox.sandbox import Sandbox
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, ProducerSettings, parse_bootstrap

AT = TopicPartition("t", 0)
QUICK = {"retry_backoff": 0.01, "retry_backoff_max": 0.05}


def settings(sandbox: Sandbox) -> ClientSettings:
    return ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap), reconnect_backoff=0.01, **QUICK)  # type: ignore[arg-type]


async def committed(client: Client) -> list[bytes | None]:
    """What is seen of t[0] up to its last stable offset."""
    answer = (await list_offsets(client.cluster, {AT: LATEST}, "read_committed"))[AT]
    assert not isinstance(answer, Exception)
    found: list[bytes | None] = []
    async with client.consumer(settings=ConsumerSettings(isolation="read_committed")) as consumer:
        consumer.assign({AT: Bound("earliest")})
        consumer.stop_at({AT: answer.offset})
        while not consumer.finished:
            for fetched in await consumer.poll(1.0):
                found += [record.value for batch in fetched.batches for record in batch]
    return found


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("commit", [True, False])
async def test_D38_the_answer_to_EndTxn_is_lost_and_the_transaction_ends_as_it_was_asked_to(
    version: int, commit: bool
) -> None:
    async with Sandbox(topics={"t": 1}, features={"transaction.version": version}) as sandbox:
        async with Client(settings(sandbox)) as client:
            async with client.producer(ProducerSettings(transactional_id="x", **QUICK)) as producer:  # type: ignore[arg-type]
                sandbox.faults.wire.lose_answer("EndTxn", times=2)
                await producer.begin()
                await producer.send("t", b"1", partition=0)
                await (producer.commit if commit else producer.abort)()
                async with producer.transaction():
                    await producer.send("t", b"2", partition=0)
            assert await committed(client) == ([b"1", b"2"] if commit else [b"2"])


@pytest.mark.parametrize("version", [1, 2])
async def test_D35_D36_D37_every_request_of_a_transaction_may_lose_its_answer_or_fail_once(version: int) -> None:
    apis = ["InitProducerId", "Produce", "EndTxn", "FindCoordinator"]
    apis += ["AddPartitionsToTxn"] if version == 1 else []
    async with Sandbox(topics={"t": 1}, features={"transaction.version": version}) as sandbox:
        async with Client(settings(sandbox)) as client:
            for number, api in enumerate(apis):
                for fault in ("lost", "closed", "error"):
                    async with client.producer(ProducerSettings(transactional_id="x", **QUICK)) as producer:  # type: ignore[arg-type]
                        if fault == "lost":
                            sandbox.faults.wire.lose_answer(api)
                        elif fault == "closed":
                            sandbox.faults.wire.close_before(api)
                        else:
                            sandbox.faults.error(api, codes.COORDINATOR_LOAD_IN_PROGRESS if api != "Produce" else
                                                 codes.NOT_ENOUGH_REPLICAS)  # fmt: skip
                        async with producer.transaction():
                            await producer.send("t", b"%d %s" % (number, fault.encode()), partition=0)
                    sandbox.faults.clear()
            want = [b"%d %s" % (n, fault) for n in range(len(apis)) for fault in (b"lost", b"closed", b"error")]
            assert await committed(client) == want


@pytest.mark.kcli_violates
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_D40_consume_transform_produce_with_a_members_place_in_its_group(protocol: str) -> None:
    """The offsets of a member that is up to date are committed with the records; those of one that was left behind
    are refused, and with them the records."""
    async with Sandbox(topics={"in": 1, "t": 1}) as sandbox:
        async with Client(settings(sandbox)) as client:
            async with client.producer(ProducerSettings(**QUICK)) as plain:  # type: ignore[arg-type]
                for n in range(10):
                    await plain.send("in", b"%d" % n)
            group = GroupSettings(group="g", protocol=protocol, auto_commit=False)
            async with (
                client.consumer(group=group) as consumer,
                client.producer(ProducerSettings(transactional_id="x", **QUICK)) as producer,  # type: ignore[arg-type]
            ):
                await consumer.subscribe(["in"])
                seen = 0
                while seen < 10:
                    for fetched in await consumer.poll(1.0):
                        async with producer.transaction():
                            for batch in fetched.batches:
                                for record in batch:
                                    await producer.send("t", b"<%s>" % record.value, partition=0)  # type: ignore[str-bytes-safe]
                                    seen += 1
                            positions = {TopicPartition("in", 0): OffsetAndMetadata(fetched.next_offset)}
                            await producer.send_offsets(positions, consumer.group_metadata())
                held = consumer.group_metadata()
                assert held.generation >= 0
                committed_ = await consumer.committed([TopicPartition("in", 0)])
                assert (committed_[TopicPartition("in", 0)] or OffsetAndMetadata(-1)).offset == 10
                await producer.begin()
                await producer.send("t", b"late", partition=0)
                behind = held._replace(generation=held.generation - 1 if held.generation else 99)
                with pytest.raises(AbortRequired):
                    await producer.send_offsets({TopicPartition("in", 0): OffsetAndMetadata(3)}, behind)
                await producer.abort()
            assert await committed(client) == [b"<%d>" % n for n in range(10)]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("problem", [ZeroDivisionError, asyncio.CancelledError, KeyboardInterrupt])
async def test_a_block_that_raises_leaves_no_transaction_open(version: int, problem: type[BaseException]) -> None:
    async with Sandbox(topics={"t": 1}, features={"transaction.version": version}) as sandbox:
        async with (
            Client(settings(sandbox)) as client,
            client.producer(ProducerSettings(transactional_id="x", **QUICK)) as producer,  # type: ignore[arg-type]
        ):
            with pytest.raises(problem):  # noqa: PT012 - the block is what is tested
                async with producer.transaction():
                    await producer.send_and_wait("t", b"dropped", partition=0)
                    raise problem
            # while the producer lives: an open transaction would hold readers back, and refuse the next one
            assert await ends(client) == [2, 2]  # the record and its marker
            async with producer.transaction():
                await producer.send("t", b"kept", partition=0)
            assert await committed(client) == [b"kept"]


async def test_a_commit_that_a_refused_record_prevents_leaves_no_transaction_open() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox:
        async with (
            Client(settings(sandbox)) as client,
            client.producer(ProducerSettings(transactional_id="x", **QUICK)) as producer,  # type: ignore[arg-type]
        ):
            with pytest.raises(AbortRequired):  # noqa: PT012 - the block is what is tested
                async with producer.transaction():
                    await producer.send_and_wait("t", b"dropped", partition=0)
                    sandbox.faults.error("Produce", codes.INVALID_RECORD)
                    await producer.send("t", b"refused", partition=0)
            assert await ends(client) == [2, 2]
            async with producer.transaction():
                await producer.send("t", b"kept", partition=0)
            assert await committed(client) == [b"kept"]


async def test_an_abort_that_fails_as_well_is_told_with_the_error_of_the_block() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox:
        async with (
            Client(settings(sandbox)) as client,
            client.producer(ProducerSettings(transactional_id="x", **QUICK)) as producer,  # type: ignore[arg-type]
        ):
            with pytest.raises(ZeroDivisionError) as raised:  # noqa: PT012 - the block is what is tested
                async with producer.transaction():
                    await producer.send_and_wait("t", b"dropped", partition=0)
                    sandbox.faults.error("EndTxn", codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
                    raise ZeroDivisionError
            (note,) = raised.value.__notes__
            assert note.startswith("and the transaction could not be aborted: ")


async def ends(client: Client) -> list[int]:
    """The last stable offset of t[0], and its high watermark."""
    found = []
    for isolation in ("read_committed", "read_uncommitted"):
        answer = (await list_offsets(client.cluster, {AT: LATEST}, isolation))[AT]
        assert not isinstance(answer, Exception)
        found.append(answer.offset)
    return found
