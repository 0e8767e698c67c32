"""The last day of groups, one JSON line per minute in a file per cluster, so that a dashboard opened again knows since
when a group has its status, and what happened to it.

    state_folder/history/CLUSTER.ndjson          the newer half, at most 24 MiB
    state_folder/history/CLUSTER.ndjson.1        the older one
    state_folder/history/CLUSTER.ndjson.still    offsets of partitions that do not move, and commit intervals of those
                                                 that commit rarely, at most 2 MiB, replaced as a whole

Only this user can read them (mode 600). One process writes, as determined by a lock that ends with its process; the
others read. A line is written in one call, so a killed process leaves at most one incomplete line, which is skipped.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from typing import TYPE_CHECKING

from kcli.admin.cluster.cluster import cluster_id
from kcli.lag.events import Event
from kcli.model import TopicPartition
from kcli.paths import private, state_folder
from kcli.system import files
from kcli.values import Value, field

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kcli.lag.history import GroupStanding, History, Standstills
    from kcli.lag.partition_lag import Stood
    from kcli.lag.watch import LagSnapshot
    from kcli.model import Cluster

    Topics = dict[str, list[tuple[float, bool | None, tuple[float, ...], dict[str, int]]]]

VERSION = "kcli.lag.past/1"
KEPT = 86_400.0
"""Seconds of history."""
BEAT = 60.0
"""Seconds between two lines."""
HALF = 24 << 20
"""Size of a file in bytes at which it becomes the older one."""
EVENT = ("time", "group", "kind", "text", "topic", "partition", "offsets")
STANDSTILLS_VERSION = "kcli.lag.still/3"
MOST_STANDSTILLS = 2 << 20
"""Size limit in bytes; more than that is not kept at all."""


class Point(Value):
    """A group at one moment: seconds since the epoch, offsets, seconds, offsets per second. `lag` is None if that of a
    partition was unknown."""

    time: float = 0.0
    lag: int | None = 0
    time_lag: float | None = None
    in_rate: float | None = None
    out_rate: float | None = None
    status: str = ""


class Remembered(Value):
    """The content of a file: the points of each group and all events, oldest first; `skipped` counts malformed
    lines."""

    points: dict[str, list[Point]] = field(factory=dict)
    events: list[Event] = field(factory=list)
    skipped: int = 0


class Past:
    """The history of one cluster. `writes`: this process is the writer. Raises OSError if the files cannot be opened,
    read or written."""

    def __init__(self, cluster_id: str, *, folder: str | None = None, half: int = HALF) -> None:
        self._folder = folder or state_folder("history")
        self.path = os.path.join(self._folder, re.sub(r"[^\w.-]", "_", cluster_id)[:80] + ".ndjson")
        self._half = half
        self._fd = self._lock = -1
        self._due = self._last = 0.0
        self._events: list[Event] = []
        self._stood: Standstills | None = None

    @property
    def writes(self) -> bool:
        return self._fd >= 0

    def open(self, now: float) -> Remembered:
        """Return the history of the last day; from now on `add` writes, unless another process does."""
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        self._forget_others(now)
        self._lock = private(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | files.NOFOLLOW | files.BINARY)
        try:
            files.lock(self._lock)
        except OSError:
            os.close(self._lock)  # another process writes
            self._lock = -1
        else:
            self._fd = self._opened()
            self._end_line()
        return self.read(now)

    def read(self, now: float) -> Remembered:
        """Return the last day from both files."""
        remembered = Remembered()
        for path in (f"{self.path}.1", self.path):
            try:
                with files.opened(path) as written:
                    for line in files.lines(written):
                        _read(line, now - KEPT, remembered)
            except FileNotFoundError:
                continue
        return remembered

    def stood(self) -> Standstills | None:
        """Return what did not move when the cluster was last watched, None if unknown. Call it before `open`."""
        return read_standstills(f"{self.path}.still")

    def stand(self, stood: Standstills) -> None:
        """Replace the saved offsets of partitions that do not move."""
        if self.writes and stood != self._stood:
            write_standstills(f"{self.path}.still", stood)
            self._stood = stood

    def stand_for(self, watched: Mapping[str, set[TopicPartition]], stood: Standstills) -> None:
        """The same for a watch without history: only the watched partitions are replaced, and nothing is written while
        another process keeps the history."""
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        lock = private(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | files.NOFOLLOW | files.BINARY)
        try:
            files.lock(lock)
        except OSError:
            return
        else:
            kept = self.stood() or {}
            for group, places in watched.items():
                others = {at: one for at, one in kept.pop(group, {}).items() if at not in places}
                mine = {at: one for at, one in stood.get(group, {}).items() if at in places}
                if others or mine:
                    kept[group] = others | mine
            write_standstills(f"{self.path}.still", kept)
        finally:
            os.close(lock)

    def add(self, snapshot: LagSnapshot) -> bool:
        """Keep a snapshot: a line per minute, with the events since the last one. Returns whether a line was
        written."""
        if not self.writes:
            return False
        self._events += snapshot.events
        self._last = snapshot.time
        if self._due - BEAT <= snapshot.time < self._due:  # earlier: the clock was set back
            return False
        self._due = snapshot.time + BEAT
        self._write(line(snapshot.time, snapshot.groups, self._events))
        self._events = []
        return True

    def keep(self, events: list[Event]) -> None:
        """Keep events that are in no snapshot, for the next line or for that of `close`."""
        if self.writes:
            self._events += events
            self._last = max([self._last, *(event.time for event in events)])

    def _write(self, data: bytes) -> None:
        size = os.fstat(self._fd).st_size
        if size and size + len(data) > self._half:
            os.close(self._fd)
            self._fd = -1
            os.replace(self.path, f"{self.path}.1")
            self._fd, size = self._opened(), 0
        if os.write(self._fd, data) != len(data):
            os.ftruncate(self._fd, size)  # the disk is full: leave no partial line

    def close(self) -> None:
        """Write the events since the last line, in a line without groups; let another process write."""
        try:
            if self.writes and self._events:
                self._write(line(self._last, [], self._events))
                self._events = []
        finally:
            for fd in (self._fd, self._lock):
                if fd >= 0:
                    os.close(fd)
            self._fd = self._lock = -1

    def _opened(self) -> int:
        return private(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | files.NOFOLLOW | files.BINARY)

    def _end_line(self) -> None:
        """Terminate an incomplete line of a killed process, so that it is skipped."""
        size = os.fstat(self._fd).st_size
        if size:
            os.lseek(self._fd, size - 1, os.SEEK_SET)
            if os.read(self._fd, 1) != b"\n":
                os.write(self._fd, b"\n")

    def _forget_others(self, now: float) -> None:
        """Remove the files of clusters that were not watched for a day."""
        for entry in os.scandir(self._folder):
            other = entry.is_file(follow_symlinks=False) and not entry.path.startswith(self.path)
            if other and ".ndjson" in entry.name and now - entry.stat(follow_symlinks=False).st_mtime > KEPT:
                os.unlink(entry.path)


async def recall(cluster: Cluster, history: History) -> Past | None:
    """Load what did not move when the cluster was last watched into a history, before its first snapshot. Return the
    store; None for a cluster without an id. Raises KcliError."""
    name = await cluster_id(cluster)
    if name is None:
        return None
    past = Past(name)
    stood = await asyncio.to_thread(past.stood)
    history.go_on(stood or {})
    return past


def line(moment: float, standings: Iterable[GroupStanding], events: list[Event]) -> bytes:
    """Return the line for groups at a moment and the events before it."""
    import json

    groups = {
        group.described.group: [
            None if group.total.at_least else group.total.lag,
            *(_short(value) for value in (group.time_lag, group.in_rate, group.out_rate)),
            group.status,
        ]
        for group in standings
    }
    happened = [[getattr(event, name) for name in EVENT] for event in events]
    whole = {"kcli": VERSION, "time": round(moment, 3), "groups": groups, "events": happened}
    return json.dumps(whole, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def _read(data: bytes, since: float, remembered: Remembered) -> None:
    """Add the content of a line, if it is later than `since`."""
    import json

    try:
        whole = json.loads(data)
        if whole["kcli"] != VERSION:
            raise ValueError(whole["kcli"])
        moment = float(whole["time"])
        points = {str(name): _point(moment, *row) for name, row in whole["groups"].items()}
        events = [Event(**dict(zip(EVENT, row, strict=True))) for row in whole["events"]]
    except (ValueError, KeyError, TypeError, AttributeError):
        remembered.skipped += 1
        return
    if moment < since or moment > time.time() + KEPT:
        return
    for name, point in points.items():
        remembered.points.setdefault(name, []).append(point)
    remembered.events += events


def _point(
    moment: float, lag: int | None, time_lag: float | None, in_rate: float | None, out_rate: float | None, status: str
) -> Point:
    return Point(time=moment, lag=lag, time_lag=time_lag, in_rate=in_rate, out_rate=out_rate, status=status)


# A restarted dashboard or `--watch` knows since when a partition is STUCK or STALLED if it finds it at the same offset,
# and does not report a group as STUCK that commits every ten minutes.
def write_standstills(path: str, stood: Standstills) -> None:
    """Replace the file, or remove it if it would be too large. Raises OSError."""
    import json

    groups = {group: _by_time(some) for group, some in stood.items()}
    data = json.dumps(
        {"kcli": STANDSTILLS_VERSION, "groups": groups}, ensure_ascii=True, separators=(",", ":")
    ).encode()
    if len(data) > MOST_STANDSTILLS:
        if os.path.exists(path):
            os.unlink(path)
        return
    with open(f"{path}.new", "wb", opener=private) as file:
        file.write(data)
    os.replace(f"{path}.new", path)


def read_standstills(path: str) -> Standstills | None:
    """Return what did not move; None if unknown, because the file is missing or damaged."""
    import json

    try:
        whole = json.loads(files.read(path, MOST_STANDSTILLS))
        if whole["kcli"] != STANDSTILLS_VERSION:
            return None
        return {str(group): dict(_places(topics)) for group, topics in whole["groups"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _by_time(some: dict[TopicPartition, Stood]) -> Topics:
    """Group partitions and offsets by topic and time, because those of a group often stop together."""
    topics: dict[str, dict[tuple[float, bool | None, tuple[float, ...]], dict[str, int]]] = {}
    for at, (done, since, member_moved, waits) in some.items():
        places = topics.setdefault(at.topic, {}).setdefault((round(since, 3), member_moved, waits), {})
        places[str(at.partition)] = done
    return {topic: [(*key, places) for key, places in times.items()] for topic, times in topics.items()}


def _places(topics: Topics) -> Iterator[tuple[TopicPartition, Stood]]:
    for topic, times in topics.items():
        for since, member_moved, waits, places in times:
            stood = float(since), None if member_moved is None else bool(member_moved), tuple(map(float, waits))
            for partition, done in places.items():
                yield TopicPartition(str(topic), int(partition)), (int(done), *stood)
