"""Back to the seeds (C16, KIP-899, KIP-1102), and how old metadata may become, on a clock that jumps."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kcli import codes
from kcli.cluster.cluster import NetworkCluster
from kcli.errors import BrokerError, ConnectError, KcliError, Misrouted
from kcli.model import Address, TopicPartition
from kcli.proto.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kcli.settings import ClientSettings
from tests.fakes.idle import IdleBroker
from tests.producer.world import now, play

AT = TopicPartition("t", 0)
SEED = Address("seed", 1)


class Old:
    """A cluster behind a seed's name; `nodes` are alive. A node that is dead takes a second to say nothing."""

    def __init__(self) -> None:
        self.nodes = [1, 2]
        self.seed_is_up = True
        self.code = codes.NONE
        self.asked: list[tuple[float, int]] = []
        self.closed: list[int] = []

    def connect(self, _: Address, node_id: int) -> One:
        return One(self, node_id)

    def cluster(self, **changes: Any) -> NetworkCluster:
        settings = ClientSettings(bootstrap=(SEED,), deadline=10.0, **changes)
        return NetworkCluster(self.connect, settings)

    def answer(self) -> MetadataResponse:
        told = MetadataResponse(cluster_id="c")
        told.brokers = [MetadataResponseBroker(node_id=n, host="h", port=n) for n in self.nodes]
        row = MetadataResponsePartition(partition_index=0, leader_id=self.nodes[0], leader_epoch=3)
        told.topics = [MetadataResponseTopic(name="t", topic_id=b"i" * 16, partitions=[row])]
        return told


class One(IdleBroker):
    def __init__(self, old: Old, node_id: int) -> None:
        self.old, self.node_id = old, node_id

    def become(self, node_id: int) -> None:
        self.node_id = node_id

    async def versions(self) -> dict[int, tuple[int, int]]:
        return {3: (0, 13)}

    async def ask(self, request: Any, **_: Any) -> Any:
        self.old.asked.append((now(), self.node_id))
        await asyncio.sleep(0.001)
        if self.node_id not in self.old.nodes and not (self.node_id < 0 and self.old.seed_is_up):
            await asyncio.sleep(1)
            raise ConnectError(f"node {self.node_id} is away")
        if self.old.code and self.node_id >= 0:
            return MetadataResponse(error_code=self.old.code.number)
        return self.old.answer()

    async def close(self) -> None:
        self.old.closed.append(self.node_id)


def test_C16_after_five_minutes_without_metadata_the_brokers_are_forgotten() -> None:
    async def scene() -> None:
        old = Old()
        cluster = old.cluster()
        await cluster.refresh(["t"])
        old.nodes, old.seed_is_up = [], False
        begin = now()
        while cluster.topology.nodes:
            with pytest.raises(KcliError, match=r"away|answer"):
                await cluster.refresh(["t"])
            assert now() - begin < 330
        assert now() - begin >= 300
        assert sorted(set(old.closed)) == [-1, 1, 2]
        old.asked.clear()
        with pytest.raises(KcliError, match=r"away|answer"):
            await cluster.refresh(["t"])
        assert {node for _, node in old.asked} == {-1}, "only the seeds are left"
        old.nodes, old.seed_is_up = [11, 12], True  # another cluster behind the seed's name
        await cluster.refresh(["t"])
        assert cluster.leader_id(AT) == 11
        await cluster.close()

    play(scene())


def test_a_wrong_broker_sends_the_next_question_to_the_seeds_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """KIP-1242: whoever answers at a broker's address is not that broker, so what is known of the addresses is old. The
    brokers that are right stay, and are asked again afterwards."""

    async def scene() -> None:
        old = Old()
        cluster = old.cluster()
        await cluster.refresh(["t"])
        monkeypatch.setattr(One, "failing", property(lambda one: (now(), wrong) if one.node_id == 2 else None))
        wrong = Misrouted("broker 2: another broker answers")
        for attempt, first in ((now(), -1), (None, 1), (None, 1)):
            if attempt is not None:
                monkeypatch.setattr(One, "last_attempt", attempt)
            await asyncio.sleep(5)
            old.asked.clear()
            await cluster.refresh(["t"])
            assert (old.asked[0][1] < 0) == (first < 0)
        assert not {1, 2} & set(old.closed)
        await cluster.close()

    play(scene())


def test_C16_an_answer_in_between_begins_the_five_minutes_anew() -> None:
    async def scene() -> None:
        old = Old()
        cluster = old.cluster()
        await cluster.refresh(["t"])
        for _ in range(2):
            begin = now()
            old.nodes, old.seed_is_up = [], False
            while now() - begin < 250:
                with pytest.raises(KcliError, match=r"away|answer"):
                    await cluster.refresh(["t"])
            assert set(cluster.topology.nodes) == {1, 2}
            old.nodes = [1, 2]
            await cluster.refresh(["t"])
        await cluster.close()

    play(scene())


def test_C16_rebootstrap_required_asks_the_seeds_and_no_other_broker() -> None:
    async def scene() -> None:
        old = Old()
        cluster = old.cluster()
        await cluster.refresh(["t"])
        old.asked.clear()
        old.code = codes.REBOOTSTRAP_REQUIRED
        await cluster.refresh(["t"])
        assert [node >= 0 for _, node in old.asked] == [True, False]
        assert cluster.leader_id(AT) == 1
        await cluster.close()

    play(scene())


def test_C16_a_cluster_that_always_sends_us_back_is_no_loop() -> None:
    async def scene() -> None:
        old = Old()
        cluster = old.cluster()
        old.code = codes.REBOOTSTRAP_REQUIRED
        for _ in range(20):
            await cluster.refresh(["t"])
        assert len(old.asked) <= 40
        assert now() > 8, "a broker's word is no reason to ask faster"
        await cluster.close()

    play(scene())


def test_C4_metadata_that_could_not_be_renewed_stays_old_and_is_tried_again() -> None:
    async def scene() -> None:
        old = Old()
        cluster = old.cluster(rebootstrap_trigger=1e9)
        await cluster.leader(AT)
        old.nodes, old.seed_is_up = [], False
        await asyncio.sleep(301)
        await cluster.leader(AT)  # begins a refresh on the side, in vain
        await asyncio.sleep(60)
        old.nodes = [1, 2]
        asked = len(old.asked)
        await cluster.leader(AT)
        await asyncio.sleep(2)
        assert len(old.asked) == asked + 1
        await cluster.leader(AT)
        await asyncio.sleep(2)
        assert len(old.asked) == asked + 1, "now it is fresh"
        await cluster.close()

    play(scene())


def test_another_error_of_metadata_as_a_whole_is_told() -> None:
    async def scene() -> None:
        old = Old()
        cluster = old.cluster()
        await cluster.refresh(["t"])
        old.code = codes.UNKNOWN_SERVER_ERROR
        with pytest.raises(BrokerError, match="metadata"):
            await cluster.refresh(["t"])
        await cluster.close()

    play(scene())
