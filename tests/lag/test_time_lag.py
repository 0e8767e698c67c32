"""Time lag is the age of the first unread record, however it was found and however long one has been watching."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kcli.admin.groups.commits import write_commits
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.lag.formats.recording import line, read
from kcli.lag.history import GroupStanding, History
from kcli.lag.record_times import first_records
from kcli.lag.watch import BELIEVED, LagSnapshot, Watch
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kcli.lag.record_times import Spot
    from kcli.model import Cluster

AT = TopicPartition("t", 0)
YEARS = 1103 * 86_400.0


class Scene:
    """A clock of its own, a group that is behind, and watches on it. Records are written `older` than they arrive."""

    def __init__(self, client: Client, older: float) -> None:
        self.client, self.older = client, older
        self.now = 1_700_000_000.0
        self.last = LagSnapshot()

    def watch(self, most: int | None = 100) -> Watch:
        return Watch(self.client.cluster, ["g"], History(), exact=True, most=most, clock=lambda: self.now)

    async def step(self, watch: Watch, committed: int, *, records: int = 10, seconds: float = 5.0) -> GroupStanding:
        """Time passes, records are written evenly, the group commits, somebody looks."""
        async with self.client.producer(ProducerSettings()) as producer:
            for n in range(1, records + 1):
                written = self.now + seconds * n / records - self.older
                await producer.send("t", b"v", partition=0, timestamp=round(written * 1000))
                await producer.flush()  # a batch each: who asks for one record need not read on
        self.now += seconds
        await write_commits(Coordinators(self.client.cluster), "g", {AT: OffsetAndMetadata(offset=committed)})
        look = await watch.refresh()
        (one,) = look.groups
        self.last = look
        return one


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    with SandboxThread(topics={"t": 1}) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as made:
            yield made


def told(one: GroupStanding) -> tuple[float, bool]:
    assert one.time_lag is not None
    assert not one.time_lag_least
    return one.time_lag, one.time_lag_exact


@pytest.mark.parametrize("older", [0.0, YEARS])
async def test_a_session_that_is_open_for_long_says_what_a_fresh_one_says(client: Client, older: float) -> None:
    scene = Scene(client, older)
    long = scene.watch()
    for n in range(8):
        found = await scene.step(long, committed=max(10 * n - 3, 0))
    assert (found.total.lag, found.partitions[0].lag.sample.committed) == (13, 67)
    age, _ = told(found)
    fresh, exact = told((await scene.watch().refresh()).groups[0])
    assert exact
    assert fresh == pytest.approx(older + 6.0, abs=0.6)  # offset 67 was written 6 s ago, if not years before
    assert age == pytest.approx(fresh, abs=5.0)


async def test_records_that_are_as_old_as_they_lie_there_are_not_asked_for_at_each_look(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(client, 0.0)
    watch = scene.watch()
    asked: list[int] = []

    async def counted(cluster: Cluster, spots: list[Spot]) -> tuple[dict[Spot, int], dict[Spot, int]]:
        asked.append(len(spots))
        return await first_records(cluster, spots)

    monkeypatch.setattr("kcli.lag.watch.first_records", counted)
    kinds = [told(await scene.step(watch, committed=10 * n - 3))[1] for n in range(1, 8)]
    assert asked[2:] == [0] * 5
    assert kinds[2:] == [False] * 5
    scene.now += BELIEVED
    await scene.step(watch, committed=77)
    assert asked[-1] == 1  # once in a while it is looked at again


async def test_of_what_is_too_much_to_ask_for_the_samples_tell(client: Client) -> None:
    scene = Scene(client, YEARS)
    watch = scene.watch(most=0)
    for n in range(1, 6):
        found = await scene.step(watch, committed=10 * n - 3)
    assert told(found) == (pytest.approx(1.0, abs=1.5), False)


async def test_a_recording_tells_the_same(client: Client) -> None:
    scene = Scene(client, YEARS)
    watch, replayed = scene.watch(), History()
    for n in range(1, 5):
        found = await scene.step(watch, committed=10 * n - 3)
        (again,) = replayed.add(*read(line(scene.last.time, scene.last.snapshot)))
    assert told(again) == (pytest.approx(told(found)[0], abs=0.01), True)


async def test_nothing_unread_is_no_guess(client: Client) -> None:
    scene = Scene(client, 0.0)
    assert told(await scene.step(scene.watch(most=0), committed=10)) == (0.0, True)
