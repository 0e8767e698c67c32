"""The history of a cluster in a file: a day of it, for one user, one writer, whole after kill -9, never too large."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kcli.admin.groups.rows import Described
from kcli.lag.events import Event
from kcli.lag.figures import Total
from kcli.lag.formats.past import BEAT, KEPT, Past, Point
from kcli.lag.history import GroupStanding
from kcli.lag.watch import LagSnapshot

NOW = 1_795_265_117.0


def snapshot_at(at: float, lag: int = 5, events: int = 0, groups: int = 1) -> LagSnapshot:
    standings = [
        GroupStanding(
            described=Described(group=f"g{n}"), total=Total(lag=lag), status="STUCK", time_lag=1.25, in_rate=2.0
        )
        for n in range(groups)
    ]
    happened = [Event(time=at, group="g0", kind="status", text=f"event {n}", partition=3) for n in range(events)]
    return LagSnapshot(time=at, groups=standings, events=happened)


def opened(folder: Path, now: float = NOW, **options: int) -> Past:
    past = Past("the/cluster id", folder=str(folder), **options)
    past.open(now)
    return past


def test_what_was_written_is_known_again(tmp_path: Path) -> None:
    past = opened(tmp_path)
    assert past.writes
    past.add(snapshot_at(NOW, events=1))
    past.add(snapshot_at(NOW + 5, lag=6, events=1))  # within the minute: only what happened is kept
    past.add(snapshot_at(NOW + BEAT, lag=7))
    past.close()
    found = opened(tmp_path).read(NOW + BEAT)
    assert found.points["g0"] == [
        Point(time=NOW, lag=5, time_lag=1.2, in_rate=2.0, status="STUCK"),
        Point(time=NOW + BEAT, lag=7, time_lag=1.2, in_rate=2.0, status="STUCK"),
    ]
    assert [(event.time, event.text, event.partition) for event in found.events] == [
        (NOW, "event 0", 3),
        (NOW + 5, "event 0", 3),
    ]
    assert found.skipped == 0


def test_the_events_of_the_last_minute_are_written_when_it_is_closed(tmp_path: Path) -> None:
    past = opened(tmp_path)
    past.add(snapshot_at(NOW, events=1))
    past.add(snapshot_at(NOW + 5, lag=6, events=2))
    past.close()
    past.close()
    again = opened(tmp_path, NOW + 10)
    found = again.read(NOW + 10)
    assert [(event.time, event.text) for event in found.events] == [
        (NOW, "event 0"),
        (NOW + 5, "event 0"),
        (NOW + 5, "event 1"),
    ]
    assert [point.time for point in found.points["g0"]] == [NOW]
    size = os.path.getsize(again.path)
    again.close()
    assert os.path.getsize(again.path) == size, "nothing happened since"
    second = opened(tmp_path, NOW + 10)
    reader = opened(tmp_path, NOW + 10)
    reader.add(snapshot_at(NOW + 20, events=1))
    reader.close()
    assert os.path.getsize(second.path) == size, "another process writes it"


def test_only_the_last_day_is_known(tmp_path: Path) -> None:
    past = opened(tmp_path)
    past.add(snapshot_at(NOW))
    past.add(snapshot_at(NOW + BEAT))
    assert [point.time for point in past.read(NOW + KEPT + 1).points["g0"]] == [NOW + BEAT]


def test_only_this_user_reads_it(tmp_path: Path) -> None:
    past = opened(tmp_path / "history")
    past.add(snapshot_at(NOW))
    assert stat.S_IMODE((tmp_path / "history").stat().st_mode) == 0o700
    for file in (tmp_path / "history").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "/" not in file.name
        assert " " not in file.name


def test_one_process_writes_and_the_others_read(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.add(snapshot_at(NOW))
    second = opened(tmp_path)
    assert not second.writes
    second.add(snapshot_at(NOW + BEAT))
    assert len(second.read(NOW).points["g0"]) == 1
    first.close()
    assert opened(tmp_path).writes


def test_it_is_never_larger_than_two_halves_and_keeps_the_newest(tmp_path: Path) -> None:
    past = opened(tmp_path, half=4096)
    for n in range(200):
        past.add(snapshot_at(NOW + BEAT * n, lag=n, groups=3))
        sizes = [os.path.getsize(path) for path in (past.path, f"{past.path}.1") if os.path.exists(path)]
        assert max(sizes) <= 4096
    lags = [point.lag for point in past.read(NOW + BEAT * 200).points["g0"]]
    assert lags == list(range(200 - len(lags), 200))
    assert len(lags) > 20


WRITER = """
import sys, time
from tests.lag.formats.test_past import NOW, opened, snapshot_at
from pathlib import Path
past = opened(Path(sys.argv[1]))
for n in range(10_000_000):
    past.add(snapshot_at(NOW + 60.0 * n, lag=n, groups=20))
    if n == 50:
        print("many", flush=True)
"""


@pytest.mark.process
def test_a_killed_process_leaves_whole_lines_and_no_lock(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"many\n"
        writer.send_signal(signal.SIGKILL)
    past = Past("the/cluster id", folder=str(tmp_path))
    found = past.open(NOW)
    assert past.writes, "the lock ended with its process"
    assert found.skipped == 0
    known = len(found.points["g0"]) or pytest.fail("nothing was kept")
    with open(past.path, "ab") as file:
        file.write(b'{"kcli":"kcli.lag.past/1","time":17952')  # a process that was killed in the middle of a line
    past.close()
    again = Past("the/cluster id", folder=str(tmp_path))
    again.open(NOW)
    again.add(snapshot_at(NOW + KEPT - 1, lag=-1))
    found = again.read(NOW)
    assert found.skipped == 1
    assert len(found.points["g0"]) == known + 1


@pytest.mark.parametrize("line", [b"x", b"[]", b'{"kcli":"other"}', b'{"kcli":"kcli.lag.past/1","time":1}', b"\xff"])
def test_a_line_that_is_none_is_skipped(line: bytes, tmp_path: Path) -> None:
    past = opened(tmp_path)
    Path(past.path).write_bytes(line + b"\n")
    assert past.read(NOW).skipped == 1


def test_files_of_clusters_that_were_not_seen_for_a_day_are_removed(tmp_path: Path) -> None:
    old = 2 * KEPT
    for name, age in (("gone.ndjson", old), ("gone.ndjson.lock", old), ("seen.ndjson", 60.0), ("note", old)):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    opened(tmp_path, now=time.time())
    left = sorted(file.name for file in tmp_path.iterdir())
    assert [name for name in left if not name.startswith("the_")] == ["note", "seen.ndjson"]


def test_a_clock_that_is_set_back_does_not_stop_the_history(tmp_path: Path) -> None:
    past = opened(tmp_path)
    times = [NOW, NOW + 5.0, NOW - 3600.0, NOW - 3595.0, NOW - 3540.0]
    assert [past.add(snapshot_at(time)) for time in times] == [True, False, True, False, True]
    past.close()
