"""Leaders, coordinators and whom to ask (B27, C4-C8, C14-C20), against brokers that tell a scripted story."""

from __future__ import annotations

import asyncio
import gc
import time
from typing import Any

import pytest

from kcli import codes
from kcli.admin.groups.commits import topic_names
from kcli.asking.ask import ask_leader
from kcli.asking.coordinators import Coordinators
from kcli.asking.offsets import LATEST, list_offsets
from kcli.cluster.pool import Pool, load
from kcli.errors import BrokerError, ConnectError, KcliError
from kcli.model import Address, Group, Lane, Node, TopicPartition, Transaction
from kcli.proto.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from kcli.proto.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kcli.proto.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from tests.fakes.fleet import Fleet, Told
from tests.fakes.scripted import SPOKEN, Scripted, Step

pytestmark = pytest.mark.usefixtures("leaping_clock")

AT = TopicPartition("t", 0)


async def test_C4_a_leader_that_moved_costs_one_question_however_many_ask() -> None:
    async with Fleet(2) as fleet:
        fleet.topics["t"] = {0: Told(1, 1)}
        cluster = fleet.cluster()
        assert (await cluster.leader(AT)).node_id == 1
        fleet.topics["t"][0] = Told(2, 2)
        before = len(fleet.asked())
        for _ in range(10):
            cluster.leader_moved(AT)
        assert cluster.leader_id(AT) == -1
        found = await asyncio.gather(*(cluster.leader(AT) for _ in range(20)))
        assert {one.node_id for one in found} == {2}
        assert len(fleet.asked()) == before + 1


async def test_C4_a_thousand_errors_ask_no_more_often_than_the_backoff() -> None:
    async with Fleet() as fleet:
        fleet.topics["t"] = {0: Told(1, 1)}
        cluster = fleet.cluster(retry_backoff=0.02, retry_backoff_max=0.1)
        await cluster.leader(AT)
        before = len(fleet.asked())
        end = time.monotonic() + 0.4
        errors = 0
        while time.monotonic() < end and errors < 1000:
            cluster.leader_moved(AT)  # the broker says NOT_LEADER, its metadata says it leads
            await cluster.leader(AT)
            errors += 1
        assert 2 <= len(fleet.asked()) - before <= 10


async def test_C4_what_is_proven_wrong_during_a_question_is_asked_again() -> None:
    async with Fleet() as fleet:
        fleet.topics["t"] = {0: Told(1, 1)}
        cluster = fleet.cluster()
        await cluster.leader(AT)
        gate = asyncio.Event()
        fleet[1].script["Metadata"].append(Step(until=gate))
        before = len(fleet[1].seen)
        refreshing = asyncio.create_task(cluster.refresh(["t"]))
        await fleet[1].saw(before + 1)
        cluster.leader_moved(AT)  # after the question, so its answer proves nothing
        gate.set()
        await refreshing
        assert cluster.leader_id(AT) == -1
        assert (await cluster.leader(AT)).node_id == 1
        assert len(fleet[1].seen) == before + 2


async def test_C4_old_metadata_is_renewed_in_the_background() -> None:
    async with Fleet() as fleet:
        fleet.topics["t"] = {0: Told(1, 1)}
        cluster = fleet.cluster(metadata_max_age=0.2)
        await cluster.leader(AT)
        before = len(fleet.asked())
        await cluster.leader(AT)
        await asyncio.sleep(0.25)
        assert len(fleet.asked()) == before
        await cluster.leader(AT)
        await fleet.told(before + 1)


@pytest.mark.parametrize("age", [60.0, 300.0])
async def test_C4_metadata_is_renewed_once_it_is_older_than_its_age_limit_and_not_before(age: float) -> None:
    """A day of work without an error: the cluster is asked once per `metadata.max.age.ms`, however many callers."""
    async with Fleet() as fleet:
        fleet.topics |= {"t": {0: Told(1, 1)}, "u": {0: Told(1, 1)}}
        cluster = fleet.cluster(**{} if age == 300.0 else {"metadata_max_age": age})
        await cluster.refresh(["t", "u"])
        for renewals in range(3):
            before = len(fleet.asked())
            await asyncio.sleep(age - 1.0)
            await asyncio.gather(*(cluster.leader(AT) for _ in range(20)))
            await asyncio.sleep(0.1)
            assert len(fleet.asked()) == before, f"too early, after {renewals} renewals"
            fleet.topics["u"][0] = Told(1, 2 + renewals)
            await asyncio.sleep(1.0)
            await asyncio.gather(*(cluster.leader(AT) for _ in range(20)))
            await fleet.told(before + 1)
            await asyncio.sleep(0.1)
            assert len(fleet.asked()) == before + 1
            assert cluster.leader_epoch(TopicPartition("u", 0)) == 2 + renewals, "every wanted topic is renewed"


async def test_C4_a_refresh_of_one_topic_does_not_make_the_others_young() -> None:
    async with Fleet() as fleet:
        fleet.topics |= {"t": {0: Told(1, 1)}, "u": {0: Told(1, 1)}}
        cluster = fleet.cluster(metadata_max_age=60.0)
        await cluster.leader(AT)
        await asyncio.sleep(50.0)
        await cluster.refresh(["u"])  # a new topic is asked about alone
        before = len(fleet.asked())
        await asyncio.sleep(11.0)
        await cluster.leader(AT)
        await fleet.told(before + 1)


async def test_C5_a_broker_with_old_news_changes_nothing() -> None:
    async with Fleet(2) as fleet:
        fleet.topics["t"] = {0: Told(2, 7)}
        cluster = fleet.cluster()
        await cluster.leader(AT)
        fleet.topics["t"][0] = Told(1, 6)
        await cluster.refresh(["t"])
        assert (cluster.leader_id(AT), cluster.leader_epoch(AT)) == (2, 7)


async def test_C5_epochs_of_an_old_broker_are_unknown() -> None:
    async with Fleet(spoken={**SPOKEN, 3: (0, 8)}) as fleet:
        fleet.topics["t"] = {0: Told(1, 7)}
        cluster = fleet.cluster()
        await cluster.leader(AT)
        assert cluster.leader_epoch(AT) == -1


async def test_C6_a_topic_that_is_missing_once_keeps_its_leader() -> None:
    async with Fleet() as fleet:
        told = fleet.topics["t"] = {0: Told(1, 3)}
        fleet.ids["t"] = b"i" * 16
        cluster = fleet.cluster()
        await cluster.leader(AT)
        del fleet.topics["t"]
        await cluster.refresh(["t"])
        assert (cluster.leader_id(AT), cluster.topic_id("t")) == (1, b"i" * 16)
        fleet.topics["t"] = told
        assert (await cluster.leader(AT)).node_id == 1


async def test_C7_a_hint_is_followed_at_once_and_checked_later() -> None:
    async with Fleet(2) as fleet:
        fleet.topics["t"] = {0: Told(1, 1)}
        cluster = fleet.cluster()
        await cluster.leader(AT)
        before = len(fleet.asked())
        fleet.topics["t"][0] = Told(2, 2)
        for _ in range(3):  # three requests were under way
            cluster.leader_moved(AT, 2, 2, Node(2, *fleet.address(2), None))
        assert (await cluster.leader(AT)).node_id == 2
        assert len(fleet.asked()) == before
        await fleet.told(before + 1)
        assert cluster.leader_id(AT) == 2


async def test_C8_topic_ids_are_known_both_ways_and_zero_when_unknown() -> None:
    async with Fleet() as fleet:
        fleet.topics["t"] = {0: Told(1)}
        fleet.ids["t"] = b"i" * 16
        cluster = fleet.cluster()
        assert cluster.topic_id("t") == bytes(16)
        await cluster.partitions("t")
        assert cluster.topic_id("t") == b"i" * 16
        assert cluster.topic_name(b"i" * 16) == "t"
        fleet.ids["t"] = b"j" * 16
        await cluster.refresh(["t"])
        assert (cluster.topic_id("t"), cluster.topic_name(b"i" * 16)) == (b"j" * 16, None)


async def test_C8_topics_that_are_asked_for_by_id_need_no_second_question_for_their_leaders() -> None:
    async with Fleet(2) as fleet:
        fleet.topics["t"] = {0: Told(2)}
        fleet.ids["t"] = b"i" * 16
        cluster = fleet.cluster()
        await cluster.nodes()
        before = len(fleet.asked())
        assert await topic_names(cluster, {b"i" * 16, b"gone" * 4}) == {b"i" * 16: "t"}
        assert cluster.leader_id(AT) == 2
        assert len(fleet.asked()) == before + 1
        fleet.topics["t"] = {0: Told(1, 1)}
        await cluster.refresh()
        assert cluster.leader_id(AT) == 1, "it is among the topics that are kept up to date"


async def test_C14_list_offsets_goes_to_the_leader() -> None:
    async with Fleet(3) as fleet:
        fleet.topics["t"] = {0: Told(2, 1), 1: Told(3, 1)}

        def offsets(request: Any) -> ListOffsetsResponse:
            return ListOffsetsResponse(
                topics=[
                    ListOffsetsTopicResponse(
                        name=topic.name,
                        partitions=[
                            ListOffsetsPartitionResponse(partition_index=one.partition_index, offset=7)
                            for one in topic.partitions
                        ],
                    )
                    for topic in request.topics
                ]
            )

        for broker in fleet.brokers:
            broker.sound["ListOffsets"] = offsets
        at = {AT: LATEST, TopicPartition("t", 1): LATEST}
        found = await list_offsets(fleet.cluster(), at, "read_uncommitted")
        assert len(found) == 2
        assert ["ListOffsets" in broker.names() for broker in fleet.brokers] == [False, True, True]


async def test_C15_concurrent_look_ups_share_one_request_and_keys_have_kinds() -> None:
    async with Fleet(2) as fleet:
        fleet.coordinators["g"] = 2
        cluster = fleet.cluster()
        found = await asyncio.gather(*(cluster.coordinator(Group("g")) for _ in range(10)))
        assert {one.node_id for one in found} == {2}
        await cluster.coordinator(Group("g"))
        assert len(fleet.asked("FindCoordinator")) == 1
        await cluster.coordinator(Transaction("g"))
        assert [one.key_type for one in fleet.asked("FindCoordinator")] == [0, 1]
        cluster.coordinator_moved(Group("g"))
        fleet.coordinators["g"] = 1
        assert (await cluster.coordinator(Group("g"))).node_id == 1


async def test_C15_an_older_broker_is_asked_for_one_key() -> None:
    async with Fleet(2, spoken={**SPOKEN, 10: (0, 3)}) as fleet:
        fleet.coordinators["g"] = 2
        assert (await fleet.cluster().coordinator(Group("g"))).node_id == 2


def none_yet(code: int) -> FindCoordinatorResponse:
    return FindCoordinatorResponse(coordinators=[Coordinator(key="g", error_code=code)])


async def test_C15_not_yet_available_is_waited_for_and_refused_is_final() -> None:
    async with Fleet() as fleet:
        fleet[1].script["FindCoordinator"].extend(
            [none_yet(codes.COORDINATOR_NOT_AVAILABLE.number), Step(reset=True), none_yet(15)]
        )
        cluster = fleet.cluster()
        assert (await cluster.coordinator(Group("g"))).node_id == 1
        cluster.coordinator_moved(Group("g"))
        fleet[1].script["FindCoordinator"].append(none_yet(codes.GROUP_AUTHORIZATION_FAILED.number))
        with pytest.raises(BrokerError, match=r"READ on group g \(GROUP_AUTHORIZATION_FAILED"):
            await cluster.coordinator(Group("g"))
        fleet[1].script["FindCoordinator"].extend([none_yet(15)] * 99)
        quick = fleet.cluster(deadline=0.05)
        with pytest.raises(BrokerError, match="COORDINATOR_NOT_AVAILABLE"):
            await quick.coordinator(Group("g"))


async def test_C15_a_coordinator_or_leader_that_cannot_be_reached_is_forgotten() -> None:
    async with Fleet(2) as fleet:
        fleet.topics["t"] = {0: Told(2, 1)}
        fleet.coordinators["g"] = 2
        cluster = fleet.cluster()
        await cluster.leader(AT)
        await cluster.coordinator(Group("g"))
        await fleet[2].stop()
        beat = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
        coordinators = Coordinators(cluster)

        async def pulse(broker: Any, groups: list[str]) -> dict[str, Any]:
            await broker.ask(beat)
            return dict.fromkeys(groups, True)

        lost = await coordinators.ask(["g"], pulse, patience=0.1)
        assert isinstance(lost["g"], ConnectError)
        with pytest.raises(ConnectError):
            await ask_leader(cluster, AT, beat)
        fleet.coordinators["g"] = 1
        fleet.topics["t"][0] = Told(1, 2)
        fleet[1].sound["Heartbeat"] = lambda request: HeartbeatResponse()
        assert await coordinators.ask(["g"], pulse) == {"g": True}
        await ask_leader(cluster, AT, beat)


async def test_C17_one_broker_that_is_down_spoils_nothing_of_the_others() -> None:
    async with Fleet(3) as fleet:
        cluster = fleet.cluster()
        assert len(await cluster.nodes()) == 3
        await fleet[2].stop()
        asked = [(await cluster.node(node.id)).versions() for node in await cluster.nodes()]
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert [isinstance(one, dict) for one in found] == [True, False, True]
        assert isinstance(found[1], ConnectError)
        with pytest.raises(BrokerError, match="BROKER_NOT_AVAILABLE"):
            await cluster.node(99)


async def test_C18_the_controller_is_the_one_named_or_anyone_who_lives() -> None:
    async with Fleet(3) as fleet:
        cluster = fleet.cluster(reconnect_backoff=30.0, reconnect_backoff_max=30.0)
        controller = await cluster.controller()
        assert controller.node_id == 3
        await fleet[3].stop()
        with pytest.raises(ConnectError):
            await controller.versions()
        assert (await cluster.controller()).node_id in (1, 2)


async def test_C19_a_new_topic_is_waited_for_a_moment_and_a_leaderless_one_longer() -> None:
    async with Fleet() as fleet:
        cluster = fleet.cluster()
        waiting = asyncio.create_task(cluster.leader(AT))
        await asyncio.sleep(0.03)
        fleet.topics["t"] = {0: Told(-1, 0, codes.LEADER_NOT_AVAILABLE)}
        await asyncio.sleep(0.05)
        assert not cluster.has_leader(AT)
        fleet.topics["t"] = {0: Told(1, 1)}
        assert (await waiting).node_id == 1


async def test_C19_unknown_and_forbidden_end_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcli.cluster.cluster.GRACE", 0.05)
    async with Fleet() as fleet:
        cluster = fleet.cluster()
        begin = time.monotonic()
        with pytest.raises(BrokerError, match=r"t\[0\]: .*UNKNOWN_TOPIC_OR_PARTITION"):
            await cluster.leader(AT)
        assert 0.04 < time.monotonic() - begin < 2
        fleet.errors["secret"] = codes.TOPIC_AUTHORIZATION_FAILED
        for look in (cluster.leader(TopicPartition("secret", 0)), cluster.partitions("secret")):
            with pytest.raises(BrokerError, match="TOPIC_AUTHORIZATION_FAILED"):
                await look


async def test_C19_of_many_brokers_one_may_not_know_a_topic_yet_and_a_lone_one_is_right() -> None:
    async with Fleet(2) as fleet:
        waiting = asyncio.create_task(fleet.cluster().partitions("t"))
        await asyncio.sleep(0.05)
        fleet.topics["t"] = {0: Told(1), 1: Told(2)}
        assert await waiting == [0, 1]
    async with Fleet(1) as alone:
        begin = time.monotonic()
        with pytest.raises(BrokerError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            await alone.cluster().partitions("typo")
        assert time.monotonic() - begin < 1


async def test_C20_internal_topics_are_known_as_such() -> None:
    async with Fleet() as fleet:
        fleet.topics = {"__consumer_offsets": {0: Told(1)}, "__mine": {0: Told(1)}, "t": {0: Told(1)}}
        fleet.internal = {"__consumer_offsets"}
        cluster = fleet.cluster()
        assert cluster.is_internal("__transaction_state")  # also before anything is known
        await cluster.topics()
        assert [cluster.is_internal(name) for name in fleet.topics] == [True, False, False]


class State:
    """A broker as the choice sees it."""

    def __init__(self, node_id: int, **figures: Any) -> None:
        self.node_id = node_id
        self.muted = self.connected = self.connecting = self.backing_off = False
        self.in_flight, self.last_attempt = 0, 0.0
        for name, value in figures.items():
            setattr(self, name, value)


def test_B27_the_least_loaded_broker_comes_first() -> None:
    states = [
        {"connected": True}, {"connected": True, "in_flight": 1}, {"connected": True, "in_flight": 5},
        {"connecting": True}, {}, {"last_attempt": 3.0}, {"connected": True, "muted": True},
        {"backing_off": True, "last_attempt": 9.0},
    ]  # fmt: skip
    made = {n: State(n, **figures) for n, figures in enumerate(states)}
    pool = Pool(lambda address, node_id: made[node_id], [])  # type: ignore[arg-type,return-value]
    nodes = [Node(n, "h", n, None) for n in reversed(range(len(states)))]
    assert [broker.node_id for broker in pool.candidates(nodes)] == list(range(len(states)))
    assert load(made[0]) < load(made[1])  # type: ignore[arg-type]
    same = Pool(lambda address, node_id: State(node_id), [])  # type: ignore[arg-type,return-value]
    assert len({same.candidates(nodes)[0].node_id for _ in range(200)}) > 3  # among equals it is chance


async def test_B27_anyone_is_somebody_who_lives() -> None:
    async with Fleet(3) as fleet:
        cluster = fleet.cluster(Address("localhost", fleet.address(1).port))  # so that no broker is connected yet
        await cluster.nodes()
        await fleet[1].stop()
        await fleet[2].stop()
        for _ in range(3):
            assert (await cluster.anyone()).node_id == 3


async def test_B27_anyone_lives_now_and_not_only_long_ago() -> None:
    async with Fleet(3) as fleet:
        cluster = fleet.cluster()
        brokers: list[Any] = [await cluster.node(node.id) for node in await cluster.nodes()]
        for broker in brokers:
            await broker.versions()
        for scripted in fleet.brokers:
            for link in scripted.links:
                link.drop()
        await fleet[1].stop()
        await fleet[2].stop()
        async with asyncio.timeout(10):
            while any(broker.connected for broker in brokers):  # noqa: ASYNC110 a connection tells of no end
                await asyncio.sleep(0.001)
        for _ in range(3):
            assert (await cluster.anyone()).node_id == 3


async def test_B29_a_look_up_may_be_cancelled_at_any_point() -> None:
    trouble: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: trouble.append(context))
    async with Fleet(2) as fleet:
        fleet.topics["t"] = {0: Told(2, 1)}
        fleet.coordinators["g"] = 2
        for step in range(0, 30, 2):
            cluster = fleet.cluster()
            tasks = [asyncio.create_task(cluster.leader(AT)), asyncio.create_task(cluster.coordinator(Group("g")))]
            for _ in range(step):
                await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert (await asyncio.wait_for(cluster.leader(AT), 10)).node_id == 2
            assert (await asyncio.wait_for(cluster.coordinator(Group("g")), 10)).node_id == 2
            await cluster.close()
    gc.collect()
    assert not trouble


async def test_B29_a_failed_refresh_that_nobody_waits_for_is_not_reported_by_the_loop() -> None:
    trouble: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: trouble.append(context))
    async with Fleet() as fleet:
        fleet[1].script["ApiVersions"].append(Step(delay=0.02, raw=b"HTTP/1.1 400"))
        cluster = fleet.cluster()
        tasks = [asyncio.create_task(cluster.nodes()), asyncio.create_task(cluster.coordinator(Group("g")))]
        await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.sleep(0.04)
        await cluster.close()
    gc.collect()
    assert not trouble


async def test_a_broker_that_changes_its_address_is_reached_at_the_new_one() -> None:
    async with Fleet(2) as fleet:
        cluster = fleet.cluster()
        await (await cluster.node(2)).versions()
        await fleet[2].stop()
        fleet[2].port = 0
        await fleet[2].__aenter__()
        await cluster.refresh([])
        await (await cluster.node(2)).versions()
        assert len(fleet[2].links) == 2


async def test_C4_the_old_address_of_a_broker_is_a_lost_way_and_not_a_closed_client() -> None:
    async with Fleet(2) as fleet, Scripted(2) as other:
        fleet.coordinators["g"] = 2
        cluster = fleet.cluster()
        other.sound["Metadata"] = fleet.metadata
        await (await cluster.node(1)).versions()
        old = await cluster.coordinator(Group("g"))
        fleet[2].script["Heartbeat"].append(Step(silent=True))
        asked = asyncio.create_task(old.ask(HeartbeatRequest(group_id="g"), lane=Lane.JOIN))
        await fleet[2].saw(1)
        fleet.advertised[2] = Address(other.host, other.port)
        await cluster.refresh([])
        new = await cluster.node(2)
        await cluster.refresh([])
        with pytest.raises(ConnectError, match="has moved to another address") as caught:
            await asyncio.wait_for(asked, 10)
        assert caught.value.sent
        with pytest.raises(ConnectError, match="has moved to another address") as later:
            await old.ask(HeartbeatRequest(group_id="g"))
        assert not later.value.sent
        assert await cluster.coordinator(Group("g")) is new  # looked up at the old address, cached by node


async def test_an_error_of_metadata_as_a_whole_is_told() -> None:
    async with Fleet() as fleet:
        fleet.error = codes.CLUSTER_AUTHORIZATION_FAILED
        with pytest.raises(KcliError, match="CLUSTER_AUTHORIZATION_FAILED"):
            await fleet.cluster(Address("127.0.0.1", fleet[1].port)).nodes()
