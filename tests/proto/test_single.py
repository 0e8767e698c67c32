"""One record into an open batch: both record cores take the same records, and count the same."""

from __future__ import annotations

import random
import time
from collections import deque
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from .record_cores import CORES, sealed


class Desk:
    """An intake with a topic of three partitions, and all that it moves."""

    def __init__(self, core: ModuleType, *, limit: int = 2000, most: int = 50) -> None:
        self.core = core
        self.taken = core.Taken()
        self.taken.max_bytes, self.taken.max_records, self.taken.waiters = 10_000, 100, deque()
        self.counted, self.stay = core.Counted(), core.Stay()
        self.stay.current, self.stay.left = 1, 700
        self.engine, self.version, self.checked = SimpleNamespace(poison=None), 5, 0
        self.closed: list[object] = []
        self.renewed: list[object] = []
        self.topics: dict[str, Any] = {"t": core.OpenTopic(range(3), self.stay, 5)}
        self.topics["t"].limit = limit
        self.builders = [core.Builder() for _ in range(3)]
        for partition, builder in enumerate(self.builders):
            outcome = core.SharedOutcome(("t", partition), None)
            outcome.keep(0, -1)
            self.topics["t"].open_batches[partition] = core.OpenBatch(builder, outcome, partition)
        self.intake = core.Intake(
            self.topics, self.taken, self.counted, self.engine, lambda: self.version, self.check,
            self.close, self.renew, 1500, most,
        )  # fmt: skip
        self.intake.free = True

    def check(self) -> None:
        self.checked += 1

    def close(self, partition: int) -> None:
        self.closed.append(partition)
        self.shut(partition)

    def renew(self, topic: str, opened: Any, partition: Any) -> Any:
        """The open_batch of the next batch; partition 2 has to be looked at first."""
        self.renewed.append(partition)
        if partition == 2:
            return None
        builder = self.builders[partition] = self.core.Builder()
        outcome = self.core.SharedOutcome((topic, partition), None)
        outcome.keep(100, -1)
        opened.open_batches[partition] = self.core.OpenBatch(builder, outcome, partition)
        return opened.open_batches[partition]

    def shut(self, partition: int) -> None:
        """The batch takes no more."""
        self.topics["t"].open_batches[partition].open = False

    def send(self, value: Any, key: Any = None, headers: Any = (), partition: Any = None, timestamp: Any = 7) -> Any:
        promise = self.intake.take("t", value, key, headers, partition, timestamp)
        return None if promise is None else repr(promise.result())

    def state(self) -> tuple[Any, ...]:
        open_batches = self.topics["t"].open_batches.values()
        return (
            self.taken.bytes, self.taken.records, self.counted.accepted, self.stay.left, self.intake.in_a_row,
            [one.spare for one in open_batches], [builder.size for builder in self.builders], self.closed, self.checked,
            self.renewed,
        )  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_both_cores_take_the_same_records_and_count_the_same(seed: int) -> None:
    rng = random.Random(seed)
    limit, most = rng.choice([300, 2000, 9000]), rng.choice([3, 50])
    desks = [Desk(core, limit=limit, most=most) for core in CORES]
    for _ in range(150):
        value = rng.choice([b"", b"v" * rng.randrange(300), b"v" * 2000, None, bytearray(b"v"), "text"])
        key = rng.choice([None, None, b"", rng.randbytes(3), "k"])
        headers = rng.choice([(), (), (), [], None, [("h", b"")]])
        partition, stamp = rng.choice([None, None, 0, 1, 2, 3, -1]), rng.choice([7, 1 << 40, 3])
        given = [desk.send(value, key, headers, partition, stamp) for desk in desks]
        assert given.count(given[0]) == len(desks), (value, key, headers, partition)
        if rng.random() < 0.1:
            for desk in desks:
                desk.stay.left += 200
                desk.stay.current = partition or 0
        if rng.random() < 0.1:
            ended = rng.randrange(3)
            for desk in desks:
                desk.shut(ended)
        states = [desk.state() for desk in desks]
        assert states.count(states[0]) == len(desks)
    assert desks[0].counted.accepted >= 3
    assert desks[0].renewed
    written = [[sealed(builder) if builder.count else b"" for builder in desk.builders] for desk in desks]
    assert written.count(written[0]) == len(desks)


def later(desk: Desk) -> None:
    desk.version += 1


def shut(desk: Desk) -> None:
    desk.shut(2)
    desk.stay.current = 2


def spent(desk: Desk) -> None:
    desk.stay.left = 0


def full(desk: Desk) -> None:
    desk.taken.bytes = 9960


def crowded(desk: Desk) -> None:
    desk.taken.records = 100


def queued(desk: Desk) -> None:
    desk.taken.waiters.append("somebody")


def breathless(desk: Desk) -> None:
    desk.intake.in_a_row = 2000


def unknown(desk: Desk) -> None:
    desk.topics.clear()


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("trouble", [later, shut, spent, full, crowded, queued, breathless, unknown])
def test_what_needs_more_is_left_alone(core: ModuleType, trouble: Any) -> None:
    desk = Desk(core)
    assert desk.send(b"v") == "RecordMetadata(t[1]@0, 7)"
    topics = dict(desk.topics)
    trouble(desk)
    before = [builder.size for builder in desk.builders]
    assert desk.send(b"v") is None
    desk.topics.update(topics)
    assert [builder.size for builder in desk.builders] == before
    assert desk.counted.accepted == 1


@pytest.mark.parametrize("core", CORES)
def test_behind_a_batch_that_ended_a_record_opens_the_next_one(core: ModuleType) -> None:
    desk = Desk(core, limit=100)
    assert desk.send(b"v") == "RecordMetadata(t[1]@0, 7)"
    desk.shut(1)
    assert desk.send(b"v" * 50) == "RecordMetadata(t[1]@100, 7)"
    assert desk.send(b"v") == "RecordMetadata(t[1]@101, 7)"
    assert (desk.renewed, desk.builders[1].count, desk.counted.accepted) == ([1], 2, 3)


@pytest.mark.parametrize("trouble", [full, crowded, queued, breathless, later, spent])
@pytest.mark.parametrize("core", CORES)
def test_no_batch_is_opened_for_a_record_that_it_does_not_get(core: ModuleType, trouble: Any) -> None:
    desk = Desk(core, limit=100)
    desk.shut(1)
    trouble(desk)
    assert desk.send(b"v") is None
    assert desk.send(b"v" * 100, partition=1) is None, "it is larger than a batch"
    assert (desk.renewed, desk.counted.accepted) == ([], 0)


@pytest.mark.parametrize("core", CORES)
def test_what_may_be_wrong_is_checked_first(core: ModuleType) -> None:
    desk = Desk(core)
    desk.send(b"v")
    assert desk.checked == 0
    desk.engine.poison = OSError()
    desk.send(b"v")
    desk.engine.poison, desk.intake.free = None, False
    desk.send(b"v")
    assert desk.checked == 2


@pytest.mark.parametrize("timestamp", ["now", 1.5, 2**63, -(2**63) - 1])
@pytest.mark.parametrize("core", CORES)
def test_a_record_that_cannot_be_written_takes_no_room(core: ModuleType, timestamp: Any) -> None:
    desk = Desk(core)
    assert desk.intake.take("t", b"v", None, (), None, timestamp) is None
    assert (desk.taken.bytes, desk.taken.records, desk.counted.accepted, desk.stay.left) == (0, 0, 0, 700)


@pytest.mark.parametrize("core", CORES)
def test_a_record_without_a_time_has_that_of_now(core: ModuleType) -> None:
    before = time.time_ns() // 1_000_000
    stored = Desk(core).intake.take("t", b"v", None, (), None, None).result()
    assert before <= stored.timestamp <= time.time_ns() // 1_000_000
