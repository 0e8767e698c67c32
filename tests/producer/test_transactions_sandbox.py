"""Transactions over the wire, on the sandbox and its faults: what a read_committed reader sees at the end."""

from __future__ import annotations

import pytest

from kcli import codes
from kcli.client import Client
from kcli.consumer.bounds import LATEST, Bound
from kcli.consumer.offsets import list_offsets
from kcli.model import TopicPartition
from kcli.sandbox.sandbox import Sandbox
from kcli.settings import ClientSettings, ConsumerSettings, ProducerSettings, parse_bootstrap

AT = TopicPartition("t", 0)
QUICK = {"retry_backoff": 0.01, "retry_backoff_max": 0.05}


def settings(sandbox: Sandbox) -> ClientSettings:
    return ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap), reconnect_backoff=0.01, **QUICK)  # type: ignore[arg-type]


async def committed(client: Client) -> list[bytes | None]:
    """What is seen of t[0] up to its last stable offset."""
    answer = (await list_offsets(client.cluster, {AT: LATEST}, "read_committed"))[AT]
    assert not isinstance(answer, Exception)
    found: list[bytes | None] = []
    async with client.consumer(ConsumerSettings(isolation="read_committed")) as consumer:
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
                sandbox.faults.lose_answer("EndTxn", times=2)
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
                            sandbox.faults.lose_answer(api)
                        elif fault == "closed":
                            sandbox.faults.close_before(api)
                        else:
                            sandbox.faults.error(api, codes.COORDINATOR_LOAD_IN_PROGRESS if api != "Produce" else
                                                 codes.NOT_ENOUGH_REPLICAS)  # fmt: skip
                        async with producer.transaction():
                            await producer.send("t", b"%d %s" % (number, fault.encode()), partition=0)
                    sandbox.faults.clear()
            want = [b"%d %s" % (n, fault) for n in range(len(apis)) for fault in (b"lost", b"closed", b"error")]
            assert await committed(client) == want
