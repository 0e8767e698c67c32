"""Incidents beyond groups: head, cards, alerts and their page say what brokers know, and can be made quiet."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest

from kcli import codes
from kcli.admin.reassign.reassignments import Ongoing
from kcli.admin.storage import LogDir
from kcli.admin.topics.topics import NewTopic, Partition, Topic, create_topics, describe_topics
from kcli.client import Client
from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.sandbox.faults.planned import FOREVER
from kcli.tui.alerts import incidents
from kcli.tui.alerts.incidents import Found, Incident, Inspection, News, of_disks, of_replicas
from kcli.tui.app import Dashboard
from kcli.tui.screens.alerts import Alerts
from kcli.tui.screens.clusters import Clusters
from tests.tui.conftest import seen, shows, until, visit
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from textual.pilot import Pilot


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # what is acknowledged in this test alone
    with a_world(brokers=3) as one:
        asyncio.run(wide(one))
        yield one


async def wide(world: World) -> None:
    async with Client(world.settings()) as client:
        await create_topics(client.cluster, [NewTopic(topic="wide", partitions=6, replication_factor=3)])


async def behind(world: World, broker: int) -> int:
    """In how many partitions the brokers that answer say that this one is behind."""
    async with Client(world.settings()) as client:
        topics = await describe_topics(client.cluster, None, internal=True)
    parts = [part for topic in topics.values() if isinstance(topic, Topic) for part in topic.partitions]
    return sum(broker in part.replicas and broker not in part.isr for part in parts)


def one_line(pilot: Pilot[int]) -> str:
    return " ".join(seen(pilot).replace("▌", " ").split())


def told(pilot: Pilot[int]) -> str:
    assert isinstance(pilot.app, Dashboard)
    return "\n".join(words for _, words, _ in pilot.app.state.told)


@pytest.mark.long
def card(pilot: Pilot[int]) -> bool:
    """Whether the first page says that broker 3 is down."""
    return re.search("broker 3 +DOWN", seen(pilot)) is not None


async def test_a_dead_broker_is_in_head_card_toast_and_page_until_it_is_back(world: World) -> None:
    async with world.open(size=(160, 40)) as pilot:
        await shows(pilot, "3/3")
        assert "!" not in seen(pilot).split("lag")[0]
        world.sandbox.call(lambda inside: inside.faults.cluster.stop_broker(3))
        await until(pilot, lambda: card(pilot))
        await until(pilot, lambda: "!1" in seen(pilot).splitlines()[0])
        many = await behind(world, 3)
        assert many >= 6
        await until(pilot, lambda: f"{many} partitions under-replicated" in one_line(pilot))
        await until(pilot, lambda: "broker 3 is DOWN:" in told(pilot))
        await pilot.press("exclamation_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, Alerts))
        await shows(pilot, "✖ DOWN")
        await pilot.press("K")
        await shows(pilot, "broker 3 is DOWN: acknowledge it")
        await pilot.press(*"patching", "enter")
        await shows(pilot, "patching")
        await until(pilot, lambda: "!1" not in seen(pilot).splitlines()[0])
        await pilot.press("3")
        await shows(pilot, "broker 3 is DOWN:")
        await pilot.press("escape")
        assert not card(pilot)
        world.sandbox.call(lambda inside: inside.faults.cluster.start_broker(3))
        await until(pilot, lambda: "broker 3: DOWN is over" in told(pilot))
        assert isinstance(pilot.app, Dashboard)
        assert ("cluster/DOWN/broker 3", "DOWN") not in pilot.app.state.silences, "it is news when it begins again"
        await shows(pilot, "3/3")


@pytest.mark.long
async def test_a_kind_is_switched_off_and_on(world: World) -> None:
    async with world.open(size=(160, 40)) as pilot:
        world.sandbox.call(lambda inside: inside.faults.cluster.stop_broker(3))
        await until(pilot, lambda: "!1" in seen(pilot).splitlines()[0])
        await pilot.press("exclamation_mark", "2")
        await shows(pilot, "a broker does not answer")
        await pilot.press("o")
        await shows(pilot, "DOWN: off")
        await until(pilot, lambda: "!1" not in seen(pilot).splitlines()[0])
        await pilot.press("o")
        await until(pilot, lambda: "!1" in seen(pilot).splitlines()[0])


@pytest.mark.long
async def test_the_page_of_clusters_counts_as_the_head_does(world: World) -> None:
    async with world.open(size=(160, 40)) as pilot:
        app = pilot.app
        assert isinstance(app, Dashboard)
        app.state.profiles = {app.session.name: lambda: app.session}
        world.sandbox.call(lambda inside: inside.faults.cluster.stop_broker(3))
        await until(pilot, lambda: "!1" in seen(pilot).splitlines()[0])
        page = await visit(pilot, "clusters")
        assert isinstance(page, Clusters)
        await until(pilot, lambda: page._rows[app.session.name].urgent == 1)
        head, row = seen(pilot).splitlines()[0], page._rows[app.session.name]
        assert f"{row.brokers - row.down}/{row.brokers}" in head
        assert f"lag {row.lag_text}" in head
        assert not page._sessions, "the open cluster is not asked by a second session"


@pytest.mark.long
async def test_a_hanging_transaction_is_an_incident(world: World) -> None:
    world.sandbox.call(lambda inside: inside.faults.logs.hang_transaction("orders", 1, age=3600))
    async with world.open(size=(160, 40)) as pilot:
        await shows(pilot, "HANGING")
        await shows(pilot, "orders[1]")


@pytest.mark.long
async def test_what_brokers_do_not_tell_about_disks_and_transactions_is_unknown(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction that was found stays; that nothing is wrong is not said of what nobody could look at."""
    monkeypatch.setattr(incidents, "DISKS", 0.2)
    monkeypatch.setattr(incidents, "TRANSACTIONS", 0.2)
    world.sandbox.call(lambda inside: inside.faults.logs.hang_transaction("orders", 1, age=3600))
    async with world.open(size=(160, 40), interval=0.2) as pilot:
        await shows(pilot, "HANGING")
        assert "UNKNOWN" not in seen(pilot)
        code = codes.CLUSTER_AUTHORIZATION_FAILED

        def refuse(answer: Any) -> None:
            answer.error_code, answer.results = code.number, []

        world.sandbox.faults.error("DescribeProducers", code, times=FOREVER)
        world.sandbox.faults.wire.alter("DescribeLogDirs", refuse, times=FOREVER)
        await until(pilot, lambda: "? disks UNKNOWN" in one_line(pilot) and "transactions UNKNOWN" in one_line(pilot))
        text = seen(pilot)
        assert "broker 1, broker 2, broker 3: " in text
        assert "CLUSTER_AUTHORIZATION_FAILED" in text
        assert "HANGING" in text
        assert "!1" in text.splitlines()[0], "what is unknown is not counted as wrong"
        await pilot.press("exclamation_mark")
        await shows(pilot, "? UNKNOWN")
        world.sandbox.faults.clear()
        await until(pilot, lambda: "UNKNOWN" not in seen(pilot))
        assert "HANGING" in seen(pilot)
        assert "UNKNOWN" not in told(pilot)


@pytest.mark.long
async def test_a_frozen_broker_makes_sums_lower_bounds_and_its_partitions_unknown(world: World) -> None:
    async with Client(world.settings()) as client:
        orders = (await describe_topics(client.cluster, ["orders"]))["orders"]
    assert isinstance(orders, Topic)
    quick: dict[str, Any] = {"request_timeout": 1.5, "connect_timeout": 1.5, "deadline": 3.0}
    async with world.open(size=(160, 40), **quick) as pilot:
        app = pilot.app
        assert isinstance(app, Dashboard)
        await shows(pilot, "lag 120 ")
        leader = orders.partitions[1].leader
        world.sandbox.faults.wire.never_answer("ListOffsets", times=FOREVER, broker=leader)
        await until(pilot, lambda: "lag ≥ 60 " in seen(pilot).splitlines()[0], 40.0)
        (row,) = [line for line in seen(pilot).splitlines() if line.startswith("▌ billing")]
        assert "≥ 60" in row
        assert app.state.trails is not None
        assert app.state.trails.moments("billing")[-1].lag is None, "a gap in the plot, and no dip"
        assert "billing" not in told(pilot), "a broker that is silent is no news about groups"
        await pilot.press("enter")
        await shows(pilot, "Group billing")
        (unknown,) = [line for line in seen(pilot).splitlines() if " orders " in line and " 1 " in line and "–" in line]
        assert " 0 " not in unknown.partition("orders")[2][:40]
        world.sandbox.faults.clear()
        await until(pilot, lambda: "lag 120 " in seen(pilot).splitlines()[0], 40.0)


def topic(*parts: tuple[int, list[int], list[int]]) -> Topic:
    return Topic(
        topic="orders",
        partitions=[
            Partition(topic="orders", partition=n, leader=leader, replicas=replicas, isr=isr)
            for n, (leader, replicas, isr) in enumerate(parts)
        ],
    )


def test_partitions_are_told_by_the_broker_that_is_the_cause() -> None:
    some = topic((1, [1, 2], [1]), (-1, [2], []), (1, [1, 3], [1]), (1, [1], [1]))
    found = of_replicas([some], {2: "left the cluster"})
    assert [(one.kind, one.name, one.place) for one in found] == [
        ("DOWN", "broker 2", "broker 2"),
        ("OFFLINE", "partitions", "topic orders"),
        ("UNDER-REPLICATED", "broker 3", "broker 3"),
    ]
    assert "2 partitions under-replicated: orders[0], orders[1]" in found[0].text
    assert found[1].text == "1 partition without a leader: orders[1]"
    assert found[2].text == "behind in 1 partition: orders[2]"
    assert not of_replicas([topic((1, [1, 2], [1, 2]))], {})


def test_a_replica_that_a_move_adds_may_be_behind() -> None:
    some = topic((1, [1, 2, 3], [1]))
    moves = {TopicPartition("orders", 0): Ongoing(replicas=[1, 2, 3], adding=[3], removing=[])}
    assert [one.name for one in of_replicas([some], {}, moves)] == ["broker 2"]


@pytest.mark.parametrize(
    ("total", "usable", "kind"),
    [(100, 9, "DISK FULL"), (100, 10, ""), (100, 0, "DISK FULL"), (-1, -1, ""), (100, -1, ""), (0, 0, "")],
)
def test_a_volume_is_full_below_a_tenth(total: int, usable: int, kind: str) -> None:
    found = of_disks([LogDir(broker=1, directory="/data", total=total, usable=usable)])
    assert [one.kind for one in found] == [kind] * bool(kind)


def test_a_directory_that_failed_is_no_full_one() -> None:
    (found,) = of_disks([LogDir(broker=1, directory="/data", total=1, usable=0, error=KcliError("gone"))])
    assert found.kind == "DISK FAILED"


def test_news_last_two_answers_and_what_was_there_before_is_none() -> None:
    news, old = News(), Incident("DISK FULL", "broker 1 /data", "", "broker 1", before=True)
    down = Incident("DOWN", "broker 2", "", "broker 2")
    assert news.see([old]) == ([], [])
    assert news.see([old, down]) == ([], [])
    assert news.see([old]) == ([], []), "it came and went"
    assert news.see([old, down]) == ([], [])
    assert news.see([old, down]) == ([down], [])
    assert news.see([down]) == ([], [])
    assert news.see([down]) == ([], [old])


def test_what_the_first_answer_says_was_there_before_also_after_questions_that_failed() -> None:
    async def none_down(*_: object) -> dict[int, str]:
        return {}

    posted: list[list[Incident]] = []
    one = Inspection(lambda: 1.0, none_down, posted.append)
    one._take("disks", Found([], "no broker answers", lambda _: True), answered=False)
    one._take("disks", Found([Incident("DISK FULL", "broker 1 /d", "", "broker 1")]))
    one._take("disks", Found([], "no broker answers", lambda _: True), answered=False)
    one._take("disks", Found([Incident("DISK FULL", name, "", name[:8]) for name in ("broker 1 /d", "broker 2 /d")]))
    assert [[(found.name, found.before) for found in some if found.kind == "DISK FULL"] for some in posted] == [
        [],
        [("broker 1 /d", True)],
        [("broker 1 /d", True)],
        [("broker 1 /d", True), ("broker 2 /d", False)],
    ]
