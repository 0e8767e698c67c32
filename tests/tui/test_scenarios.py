"""Scripted scenarios: what head, rows, plot and alerts say, beside what the brokers know.

A frozen broker and partial answers are in alerts/test_incidents.py.
"""

from __future__ import annotations

import contextlib
import time
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from kcli.admin.groups.commits import write_commits
from kcli.admin.topics.topics import NewTopic, create_topics, delete_topics, wait_for_topics
from kcli.asking.coordinators import Coordinators
from kcli.asking.offsets import LATEST, LogOffset, list_offsets
from kcli.client import Client
from kcli.lag import watch
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.settings import GroupSettings, ProducerSettings
from kcli.tui import session as session_module
from kcli.tui.app import Dashboard
from kcli.tui.session import LiveSession
from kcli.tui.widgets.plot import Plot
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import seen, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from kcli.lag.history import GroupStanding

BEAT = 5.0
AT = [TopicPartition(World.topic, number) for number in range(2)]


class Stage:
    """A cluster, and the time that dashboards on it have."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.now = float(round(time.time()))

    def time(self) -> float:
        return self.now

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Scene]:
        session = LiveSession(self.world.settings(), interval=3600.0, remembers=True)
        session.clock = self.time  # type: ignore[method-assign]
        board = Dashboard(session)
        async with board.run_test(size=(170, 40)) as pilot:
            await until(
                pilot, lambda: board.state.snapshot is not None and session._past is not None and session._past._due
            )
            yield Scene(self, board, pilot)

    async def ends(self) -> list[int]:
        """Where the logs end, as the brokers say."""
        async with Client(self.world.settings()) as client:
            answers = await list_offsets(client.cluster, dict.fromkeys(AT, LATEST))
        return [answer.offset for answer in answers.values() if isinstance(answer, LogOffset)]

    async def lag(self) -> int | None:
        """The lag of the group, by what the brokers say; None where a commit is past the end."""
        commits = await self.world.committed()
        lags = [end - commits[number] for number, end in enumerate(await self.ends())]
        return sum(lags) if min(lags) >= 0 else None

    async def produce(self, count: int) -> None:
        async with Client(self.world.settings()) as client, client.producer(ProducerSettings()) as producer:
            for n in range(count):
                await producer.send(World.topic, b"more %d" % n, partition=n % 2)

    async def commit(self, offset: int) -> None:
        async with Client(self.world.settings()) as client:
            at = dict.fromkeys(AT, OffsetAndMetadata(offset=offset))
            await write_commits(Coordinators(client.cluster), World.group, at)

    async def join(self) -> None:
        """A member that is away and stays in its group."""
        settings = GroupSettings(group=World.group, instance_id="pod-7", auto_commit=False, session_timeout=600.0)
        async with Client(self.world.settings()) as client, client.consumer(group=settings) as consumer:
            await consumer.subscribe([World.topic])
            while not consumer.assignment:
                await consumer.poll(0.5)


class Scene:
    """A dashboard that looks when it is told to."""

    def __init__(self, stage: Stage, board: Dashboard, pilot: Pilot[int]) -> None:
        self.stage, self.board, self.pilot = stage, board, pilot

    async def after(self, seconds: float = BEAT) -> None:
        """Look again that many seconds later."""
        self.stage.now += seconds
        self.board.session.refresh_now()
        board, now = self.board, self.stage.now
        await until(self.pilot, lambda: board.state.snapshot is not None and board.state.snapshot.time == now)

    @property
    def group(self) -> GroupStanding:
        (row,) = self.board.screen.query_one(Rows).shown
        return row  # type: ignore[no-any-return]

    @property
    def head(self) -> str:
        return seen(self.pilot).splitlines()[0]

    @property
    def points(self) -> list[tuple[float, float | None]]:
        """What the plot draws."""
        return list(self.board.screen.query_one(Plot).chart.points)

    @property
    def told(self) -> list[str]:
        return [words for _, words, _ in self.board.state.told]

    @property
    def lasts(self) -> float:
        """For how long the group has its status."""
        trails = self.board.state.trails
        since = trails.since(World.group) if trails is not None else None
        assert since is not None
        return self.stage.now - since.begun


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with a_world() as world:
        made = Stage(world)
        monkeypatch.setattr(session_module, "Watch", partial(watch.Watch, clock=made.time))
        yield made


async def agrees(scene: Scene, status: str) -> None:
    """Head, row and plot say what the brokers know."""
    lag = await scene.stage.lag()
    await until(scene.pilot, lambda: f"lag {'–' if lag is None else lag} " in scene.head)
    assert (scene.group.status, scene.group.total.lag) == (status, lag)
    assert scene.points[-1] == (scene.stage.now, lag)


@pytest.mark.parametrize("step", [-3600.0, -1.0])
async def test_a_clock_that_is_set_back_changes_no_age_no_rate_and_no_status(stage: Stage, step: float) -> None:
    await stage.join()
    async with stage.open() as scene:
        for _ in range(9):
            await stage.produce(10)
            await scene.after()
        await agrees(scene, "STUCK")
        lasts, told, rate = scene.lasts, scene.told, scene.group.in_rate
        assert rate
        stage.now += step - BEAT
        await stage.produce(10)
        await scene.after()
        await agrees(scene, "STUCK")
        assert abs(scene.lasts - lasts) < 1.0, "it has lasted as long as before"
        assert scene.told == told
        assert scene.group.in_rate is not None
        assert 0 < scene.group.in_rate <= 2 * rate + 10 / BEAT
        await stage.produce(10)
        await scene.after()
        times = [at for at, _ in scene.points]
        assert all(earlier < later for earlier, later in pairwise(times)), "the plot goes forward"
        assert times[-1] - times[0] <= 11 * BEAT + 1.0
        assert None not in [lag for _, lag in scene.points], "it was watched all the time"


async def test_a_topic_that_is_created_again_makes_commits_past_its_end_and_no_lag_that_is_not_there(
    stage: Stage,
) -> None:
    await stage.commit(100)
    async with stage.open() as scene, Client(stage.world.settings()) as client:
        for _ in range(2):
            await scene.after()
        await agrees(scene, "OK")
        await delete_topics(client.cluster, [World.topic])
        await create_topics(client.cluster, [NewTopic(topic=World.topic, partitions=2)])
        await wait_for_topics(client.cluster, {World.topic: 2})
        await stage.produce(20)
        await stage.commit(100)  # as a reader does that was not restarted
        for _ in range(3):
            await scene.after()
        assert await stage.ends() == [10, 10]
        await agrees(scene, "PAST END")
        assert "»1" in scene.head
        assert [lag for _, lag in scene.points][-3:] == [None] * 3, "unknown is not 0"
        assert (scene.group.in_rate or 0) >= 0
        assert [words for words in scene.told if "PAST END" in words], scene.told
        await stage.commit(5)
        for _ in range(3):
            await scene.after()
        assert await stage.lag() == 10
        await agrees(scene, "ORPHANED")


async def test_time_in_which_no_dashboard_was_open_is_a_gap_and_no_news(stage: Stage) -> None:
    async with stage.open() as scene:
        for _ in range(4):
            await scene.after(20.0)
        await agrees(scene, "ORPHANED")
        before = stage.now
    await stage.produce(300)
    stage.now += 600.0
    async with stage.open() as scene:
        for _ in range(3):
            await scene.after()
        await agrees(scene, "ORPHANED")
        assert await stage.lag() == 420
        gap = [at for at, lag in scene.points if lag is None]
        assert gap
        assert before - 60 <= gap[0] < before + 600, "the plot joins nothing that was not watched"
        assert [lag for at, lag in scene.points if lag is not None and before < at < before + 600] == []
        assert scene.group.in_rate == 0, "what came while nobody watched is no rate of now"
        assert scene.told == []
        assert scene.lasts >= 600, "it was so before, too"
