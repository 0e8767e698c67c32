"""Client quotas of the sandbox: what may be set for whom, what is found, and that bytes are limited as in Kafka."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, EntryData, OpData
from kcli.proto.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from kcli.proto.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kcli.proto.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kcli.sandbox import Sandbox
from kcli.sandbox.access.quotas import ANY, DEFAULT, EXACT, FETCHED, PRODUCED, Quotas, Rates, in_force
from tests.sandbox.client import Peer, batch

if TYPE_CHECKING:
    from kcli.sandbox.access.quotas import Entity

USER, APP, CLIENT = (("user", "alice"),), (("client-id", "app"), ("user", "alice")), (("client-id", "app"),)
LADDER: list[Entity] = [
    APP, (("client-id", None), ("user", "alice")), USER, (("client-id", "app"), ("user", None)),
    (("client-id", None), ("user", None)), (("user", None),), CLIENT, (("client-id", None),),
]  # fmt: skip


def made(*entities: Entity) -> Quotas:
    quotas = Quotas(lambda kind, facts: None)
    for number, entity in enumerate(entities, 1):
        quotas.alter(entity, [(PRODUCED, float(number))], check_only=False)
    return quotas


@pytest.mark.parametrize("rank", range(1, 9))
def test_the_first_of_eight_places_holds(rank: int) -> None:
    quotas = made(*LADDER[rank - 1 :])
    found = in_force(quotas.by_entity, PRODUCED, "alice", "app")
    whose = ("alice", "") if rank in (3, 6) else ("", "app") if rank > 6 else ("alice", "app")
    assert found == (1.0, whose)
    assert in_force(quotas.by_entity, FETCHED, "alice", "app") is None


@pytest.mark.parametrize(
    ("entity", "key", "value"),
    [
        ((), PRODUCED, 1.0), ((("dog", "x"),), PRODUCED, 1.0), ((("user", ""),), PRODUCED, 1.0),
        ((("user", "a"), ("ip", "::1")), PRODUCED, 1.0), ((("ip", "nowhere"),), "connection_creation_rate", 1.0),
        ((("user", "a"),), "connection_creation_rate", 1.0), ((("ip", "::1"),), PRODUCED, 1.0),
        ((("user", "a"),), PRODUCED, 1.5), ((("user", "a"),), "dogs", 1.0),
    ],
)  # fmt: skip
def test_what_kafka_refuses_is_refused(entity: Entity, key: str, value: float) -> None:
    quotas = made()
    with pytest.raises(BrokerError) as refused:
        quotas.alter(entity, [(key, value)], check_only=False)
    assert refused.value.code is codes.INVALID_REQUEST
    assert quotas.by_entity == {}


def test_what_is_asked_for() -> None:
    quotas = made(USER, APP, (("user", None),), CLIENT)
    assert set(quotas.find([("user", EXACT, "alice")], False)) == {USER, APP}
    assert set(quotas.find([("user", EXACT, "alice")], True)) == {USER}
    assert set(quotas.find([("user", ANY, None)], True)) == {USER, (("user", None),)}
    assert set(quotas.find([("user", DEFAULT, None)], False)) == {(("user", None),)}
    assert len(quotas.find([], False)) == 4
    for wrong in ([("user", 3, None)], [("user", EXACT, None)], [("user", ANY, None)] * 2):
        with pytest.raises(BrokerError):
            quotas.find(wrong, False)


def test_a_burst_of_ten_seconds_goes_and_the_rest_is_waited_for() -> None:
    """Kafka's formula: over the limit by so much, times the window."""
    quotas, rates = made(CLIENT).by_entity | {CLIENT: {PRODUCED: 1000.0}}, Rates()
    assert rates.charge(quotas, PRODUCED, "x", "app", 10_000, 100.0) == 0
    assert rates.charge(quotas, PRODUCED, "x", "app", 3_000, 100.5) == pytest.approx(2.5)
    assert rates.charge(quotas, PRODUCED, "y", "app", 0, 100.5) == pytest.approx(2.5)  # the client id is what counts
    assert rates.charge(quotas, PRODUCED, "x", "other", 99_999, 100.5) == 0
    assert rates.charge(quotas, FETCHED, "x", "app", 99_999, 100.5) == 0
    assert rates.charge(quotas, PRODUCED, "x", "app", 0, 111.0) == 0  # long ago is forgotten


async def test_B25_who_is_over_the_limit_is_told_to_be_quiet_and_not_read_from_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kcli.sandbox.access.quotas.monotonic", lambda: 1000.0)
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox, client_id="app") as peer:
        ops = [OpData(key=PRODUCED, value=1050.0), OpData(key=FETCHED, value=1050.0)]
        entry = EntryData(entity=[EntityData(entity_type="client-id", entity_name="app")], ops=ops)
        assert (await peer.ask(AlterClientQuotasRequest(entries=[entry]))).entries[0].error_code == 0
        asked = DescribeClientQuotasRequest(components=[ComponentData(entity_type="client-id", match_type=ANY)])
        asked.components[0].match = None
        assert len((await peer.ask(asked)).entries) == 1
        data = batch(30, value=b"x" * 50)
        partitions = [PartitionProduceData(index=0, records=data)]
        request = ProduceRequest(acks=-1, topic_data=[TopicProduceData(name="t", partition_data=partitions)])
        told = [(await peer.ask(request, 12)).throttle_time_ms for _ in range(6)]
        assert told[:5] == [0] * 5
        assert 0 < told[5] < 1000
        begun = time.monotonic()
        fetch = FetchRequest(max_bytes=1 << 30, topics=[FetchTopic(topic="t", partitions=[
            FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)])])  # fmt: skip
        answer = await peer.ask(fetch, 12)
        assert time.monotonic() - begun >= told[5] / 1000 * 0.9
        size = len(answer.responses[0].partitions[0].records)
        assert size == 6 * len(data)
        assert answer.throttle_time_ms == int((size / 1050 - 10) * 1000)
