"""From seeds to brokers and back (C1-C3, C16), and what is said when nobody answers."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from typing import Any

import pytest

from kcli import codes
from kcli.cluster.cluster import NetworkCluster
from kcli.cluster.metadata import HEAD_START
from kcli.errors import BrokerError, Closed, ConnectError, DeadlineExceeded, NeverMet
from kcli.model import Address, Group, TopicPartition
from kcli.proto.messages.metadata import MetadataRequest
from tests.fakes.fleet import Fleet, Told
from tests.fakes.scripted import Step
from tests.ports import free_port

pytestmark = pytest.mark.usefixtures("leaping_clock")


def dead() -> Address:
    return Address("127.0.0.1", free_port())


async def test_C1_every_dead_seed_is_listed_with_its_own_reason() -> None:
    async with Fleet() as fleet:
        fleet[1].script["ApiVersions"].append(Step(raw=b"HTTP/1.1 400 Bad Request\r\n\r\n"))
        refused, nameless = dead(), Address("no.such.name.invalid", 9092)
        cluster = fleet.cluster(refused, nameless, fleet.address(1), wait_for_cluster=False)
        begin = time.monotonic()
        with pytest.raises(ConnectError) as caught:
            await cluster.topics()
        text = str(caught.value)
        assert "could not connect to any of 3 addresses" in text
        assert f"127.0.0.1:{refused.port}: connection refused: nothing listens there" in text
        assert "the host name no.such.name.invalid does not resolve" in text
        assert f"127.0.0.1:{fleet[1].port}: this port uses HTTP, not Kafka" in text
        assert "\n" not in text
        assert time.monotonic() - begin < 3
        assert caught.value.exit_code == 5


async def test_C1_one_live_seed_of_three_is_enough() -> None:
    async with Fleet() as fleet:
        cluster = fleet.cluster(dead(), fleet.address(1), dead())
        assert [node.id for node in await cluster.nodes()] == [1]


async def test_C1_seeds_that_never_answer_end_with_a_timeout() -> None:
    async with Fleet() as fleet:
        fleet[1].script["Metadata"].extend([Step(silent=True)] * 9)
        cluster = fleet.cluster(deadline=0.1)
        with pytest.raises(DeadlineExceeded, match="no broker answered in time") as caught:
            await cluster.nodes()
        assert caught.value.exit_code == 4


async def test_C2_seeds_are_not_brokers_and_two_ids_at_one_address_are_two() -> None:
    async with Fleet(2) as fleet:
        fleet.advertised[2] = fleet.address(1)
        cluster = fleet.cluster()
        one, two = await cluster.node(1), await cluster.node(2)
        assert one is not two
        assert (one.node_id, two.node_id) == (1, 2)
        await one.versions()
        await two.versions()
        assert len(fleet[1].links) == 2  # the seed's, which is that of the first, and one for the other id


async def test_C2_a_seed_at_the_address_of_a_broker_is_that_broker_and_connects_once() -> None:
    async with Fleet(2) as fleet:
        cluster = fleet.cluster()
        first = await cluster.node(1)
        assert await first.versions()
        assert (first.node_id, repr(first)) == (1, f"<broker 1 at 127.0.0.1:{fleet.address(1).port}>")
        assert (fleet[1].names(), len(fleet[1].links)) == (["Metadata"], 1)
        await fleet[1].stop()
        with pytest.raises(ConnectError, match="broker 1 at 127"):
            await first.ask(MetadataRequest(topics=[]))


async def test_C2_a_seed_by_another_name_stays_a_seed() -> None:
    async with Fleet() as fleet:
        cluster = fleet.cluster(Address("localhost", fleet.address(1).port))
        await (await cluster.node(1)).versions()
        assert len(fleet[1].links) == 2


async def test_C2_a_wrong_advertised_address_names_seed_address_and_broker() -> None:
    async with Fleet() as fleet:
        wrong = fleet.advertised[1] = dead()
        fleet.topics["t"] = {0: Told(1)}
        cluster = fleet.cluster()
        with pytest.raises(ConnectError) as caught:
            await (await cluster.leader(TopicPartition("t", 0))).versions()
        seed = fleet.address(1)
        assert f"broker 1 at 127.0.0.1:{wrong.port}: connection refused" in str(caught.value)
        assert f"advertises this address to clients of 127.0.0.1:{seed.port}" in str(caught.value)
        with pytest.raises(ConnectError, match=f"broker 1 at 127.0.0.1:{wrong.port}"):
            await cluster.anyone()
        assert list(await cluster.topics()) == ["t"]  # the seed still answers


async def test_C2_brokers_that_were_never_met_end_the_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who answers under the bootstrap address only would never be reached, however long one waits."""
    monkeypatch.setattr("kcli.cluster.pool.GRACE", 0.05)
    async with Fleet(2) as fleet:
        wrong = [dead(), dead()]
        fleet.advertised = {1: wrong[0], 2: wrong[1]}
        fleet.topics["t"] = {0: Told(1)}
        cluster = fleet.cluster(fleet.address(1))
        await cluster.refresh(["t"])
        with pytest.raises(NeverMet) as caught:
            await asyncio.wait_for(knocking(cluster), 3)
        text = str(caught.value)
        assert text.startswith(f"127.0.0.1:{fleet.address(1).port} answers, but none of its 2 brokers can be reached")
        for number, address in enumerate(wrong, 1):
            assert f"broker {number} at 127.0.0.1:{address.port}: connection refused" in text
        assert text.endswith("or map the address (broker_map)")
        assert caught.value.exit_code == 5
        assert "t" in await cluster.topics(), "what the seed can tell it tells"


async def knocking(cluster: NetworkCluster) -> None:
    """Dial both brokers and refresh, over and over."""
    while True:
        await cluster.refresh(["t"])
        for number in (1, 2):
            with contextlib.suppress(ConnectError):
                await (await cluster.node(number)).versions()


async def test_C2_a_cluster_that_was_met_once_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """It moves to an address where nobody is, and its connections break: an outage, and outages end."""
    monkeypatch.setattr("kcli.cluster.pool.GRACE", 0.0)
    async with Fleet() as fleet:
        cluster = fleet.cluster(fleet.address(1))
        await (await cluster.node(1)).versions()
        fleet.advertised[1] = dead()
        for _ in range(3):
            await cluster.refresh([])
            with contextlib.suppress(ConnectError):
                await (await cluster.node(1)).versions()
        assert [node.port for node in await cluster.nodes()] == [fleet.advertised[1].port]


async def test_C2_a_silent_address_does_not_hold_up_the_next() -> None:
    """Ten seconds for each of three seeds, one after another, would be thirty: they are dialled beside one another."""
    with contextlib.ExitStack() as stack:
        deaf = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2)]
        silent = [Address("127.0.0.1", one.getsockname()[1]) for one in deaf]
        async with Fleet(3) as fleet:
            fleet.advertised = {1: silent[0], 2: silent[1]}
            cluster = fleet.cluster(*silent, fleet.address(1), connect_timeout=10.0, deadline=30.0)
            begin = time.monotonic()
            assert [node.id for node in await cluster.nodes()] == [1, 2, 3]
            assert (await cluster.anyone()).node_id == 3
            assert time.monotonic() - begin < 4 * HEAD_START + 1


async def test_C2_of_many_addresses_that_do_not_answer_the_last_has_its_turn_in_time() -> None:
    with contextlib.ExitStack() as stack:
        deaf = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(30)]
        silent = [Address("127.0.0.1", one.getsockname()[1]) for one in deaf]
        async with Fleet() as fleet:
            cluster = fleet.cluster(*silent, fleet.address(1), connect_timeout=3.0, deadline=2.0)
            begin = time.monotonic()
            assert [node.id for node in await cluster.nodes()] == [1]
            assert time.monotonic() - begin < 1.5


async def test_C16_a_question_that_fails_while_another_is_answered_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Fleet() as fleet:
        fleet.topics["t"] = {0: Told(1)}
        cluster = fleet.cluster()
        ask_each, calls, answered = cluster._metadata._ask_each, [], asyncio.Event()

        async def unlucky(*given: Any) -> Any:
            calls.append(given)
            if len(calls) > 1:
                return await ask_each(*given)
            await answered.wait()
            return None

        async def lucky() -> None:
            await cluster.refresh(["t"])
            answered.set()

        monkeypatch.setattr(cluster._metadata, "_ask_each", unlucky)
        await asyncio.gather(cluster.refresh([]), lucky())
        assert len(calls) == 3
        assert list(cluster.topology.topics) == ["t"]


async def test_topics_that_are_looked_up_one_after_another_are_asked_about_once_each() -> None:
    """With all that were asked about before, a thousand topics would be half a million. Those that are known are
    kept fresh together."""
    async with Fleet() as fleet:
        names = [f"t{n}" for n in range(20)]
        fleet.topics |= {name: {0: Told(1)} for name in names}
        cluster = fleet.cluster()
        for name in names:
            assert list(await cluster.partitions(name)) == [0]
        assert sum(len(one.topics) for one in fleet.asked()) == len(names)
        cluster.leader_moved(TopicPartition("t3", 0))
        await cluster.leader(TopicPartition("t3", 0))
        assert sorted(topic.name for topic in fleet.asked()[-1].topics) == sorted(names)


async def test_C3_topics_are_asked_for_by_need_and_never_created() -> None:
    async with Fleet() as fleet:
        fleet.topics["t"] = {0: Told(1), 1: Told(1)}
        cluster = fleet.cluster()
        await cluster.nodes()
        assert list(await cluster.partitions("t")) == [0, 1]
        with pytest.raises(BrokerError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            await cluster.partitions("typo")
        assert dict(await cluster.topics()) == {"t": [0, 1]}
        asked = [None if one.topics is None else [t.name for t in one.topics] for one in fleet.asked()]
        assert asked == [[], ["t"], ["typo"], None]
        assert not any(one.allow_auto_topic_creation for one in fleet.asked())
        await cluster.refresh()
        assert [t.name for t in fleet.asked()[-1].topics] == ["t", "typo"]


async def test_C16_when_all_known_brokers_are_gone_the_seeds_are_asked_again() -> None:
    async with Fleet(2) as old:
        old.topics["t"] = {0: Told(2, 9)}
        cluster = old.cluster()
        at = TopicPartition("t", 0)
        assert (await cluster.leader(at)).node_id == 2
        address = old.address(1)
        for broker in old.brokers:
            await broker.stop()
        async with Fleet(3, first=11) as new:
            new.cluster_id = "another"
            new.topics["t"] = {0: Told(12, 0)}
            await new[11].stop()
            new[11].port = address.port  # the whole cluster was replaced behind the seed's name
            await new[11].__aenter__()
            cluster.leader_moved(at)
            assert (await cluster.leader(at)).node_id == 12
            assert (await cluster.coordinator(Group("g"))).node_id == 11
            assert (await cluster.anyone()).node_id in (11, 12, 13)
        await cluster.close()


async def test_C16_rebootstrap_required_sends_us_back_to_the_seeds() -> None:
    async with Fleet(2) as fleet:
        cluster = fleet.cluster(Address("localhost", fleet.address(1).port))  # so that it is no broker
        await (await cluster.node(2)).versions()
        fleet[2].sound["Metadata"] = lambda request: refusal(fleet, request)
        await cluster.refresh()
        assert {node.id for node in await cluster.nodes()} == {1, 2}
        assert fleet[2].names() == ["Metadata"]
        assert fleet[1].names() == ["Metadata", "Metadata"]


def refusal(fleet: Fleet, request: object) -> object:
    fleet.error = codes.REBOOTSTRAP_REQUIRED
    answer = fleet.metadata(request)
    fleet.error = codes.NONE
    return answer


async def test_B30_a_closed_cluster_says_so_and_closing_twice_is_fine() -> None:
    async with Fleet() as fleet:
        fleet[1].script["Metadata"].append(Step(silent=True))
        cluster = fleet.cluster()
        waiting = asyncio.create_task(cluster.nodes())
        finding = asyncio.create_task(cluster.coordinator(Group("g")))
        await fleet[1].saw(1)
        await cluster.close()
        await cluster.close()
        for task in (waiting, finding):
            with pytest.raises(Closed):
                await task
        with pytest.raises(Closed):
            await cluster.nodes()
        with pytest.raises(Closed):
            await cluster.topics()
