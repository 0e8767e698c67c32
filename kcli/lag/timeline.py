"""The timeline of a group: its notable events. Partitions with the same change at a refresh share a line; a status is
reported if it is serious or lasts; repeated flapping is reported once. No I/O."""

from __future__ import annotations

from collections import deque

from kcli.lag.events import Event, of_group, of_partition
from kcli.lag.status import BEHIND, CALM, SEVERITY
from kcli.text.numbers import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.admin.groups.rows import Described
    from kcli.lag.partition_lag import PartitionFigures
    from kcli.model import TopicPartition

LONGEST = 200  # events per group
REMEMBERED = 3600.0  # seconds for which the timeline of a deleted group is kept
SETTLED = 30.0  # seconds after which a status that is not serious is shown
TO_AND_FRO, WITHIN = 4, 300.0  # number of changes, within seconds, that count as flapping
NAMED = 3  # topics named in a line


class Timeline:
    """`events` are the newest of one group, oldest first."""

    def __init__(self) -> None:
        self.events: deque[Event] = deque(maxlen=LONGEST)
        self._turns: dict[TopicPartition, Turns] = {}

    def add(
        self,
        time: float,
        group: tuple[Described, Described | None],
        partitions: Iterable[tuple[TopicPartition, PartitionFigures | None, PartitionFigures]],
    ) -> list[Event]:
        """Add the changes between two refreshes: the group before and now (None: it is gone), and its partitions with
        their keys, which are kept."""
        new = of_group(time, *group)
        events: list[Event] = []
        for at, before, now in partitions:
            events += of_partition(time, before, now)
            events += self._status(time, at, now)
        new += folded(events)
        self.events += new
        return new

    def over(self, time: float) -> bool:
        """Whether its timeline can be dropped, because nothing has happened for long enough."""
        return not self.events or time - self.events[-1].time > REMEMBERED

    def shift(self, by: float) -> None:
        """Move the times of status changes back by `by` seconds, because the clock was set back. Events keep theirs."""
        for turns in self._turns.values():
            turns.shift(by)

    def begin(self, time: float, partitions: Iterable[tuple[TopicPartition, PartitionFigures]]) -> None:
        """Set the state of the first refresh, which is not an event."""
        for at, partition in partitions:
            self._status(time, at, partition)

    def _status(self, time: float, at: TopicPartition, now: PartitionFigures) -> list[Event]:
        turns = self._turns.get(at)
        if turns is None:
            self._turns[at] = Turns(now.status, time)
            return []
        text = turns.add(time, now.status)
        if not text:
            return []
        group = now.lag.sample.group
        return [Event(time=time, group=group, kind="status", text=text, topic=at.topic, partition=at.partition)]


class Turns:
    """The status changes of one partition, and the last reported status."""

    __slots__ = ("_changes", "_now", "_reported", "_since", "_swinging")

    def __init__(self, status: str, time: float) -> None:
        self._reported = self._now = status
        self._since = time
        self._changes: tuple[float, ...] = ()  # most have none: an empty deque takes 600 bytes, and a set 200
        self._swinging: frozenset[str] = frozenset()  # the statuses between which it flaps

    def add(self, time: float, status: str) -> str:
        """Add the status at a refresh; return the sentence to report, or ""."""
        before, self._now = self._now, status
        if not _alike(before, status):
            self._since = time
            self._changes = (*self._changes, time)[-TO_AND_FRO:]
        swings = len(self._changes) == TO_AND_FRO and time - self._changes[0] <= WITHIN
        if not swings:
            return self._settle(time, status)
        if not self._swinging:
            self._swinging = frozenset((self._reported, before, status))
            return f"{self._pair()}, back and forth" if any(map(_grave, self._swinging)) else ""
        if status not in self._swinging:
            self._swinging |= {status}
            return self._say(status) if _grave(status) else ""
        return ""

    def shift(self, by: float) -> None:
        self._since -= by
        self._changes = tuple(at - by for at in self._changes)

    def _settle(self, time: float, status: str) -> str:
        lasting = time - self._since >= SETTLED
        if self._swinging and lasting:
            grave, self._swinging = any(map(_grave, self._swinging)), frozenset()
            if grave:
                self._reported = status
                return f"stays {status}"
        if _alike(self._reported, status):
            return ""
        return self._say(status) if lasting or _grave(status) or _grave(self._reported) else ""

    def _say(self, status: str) -> str:
        before, self._reported = self._reported, status
        return f"{before} is now {status}"

    def _pair(self) -> str:
        return " and ".join(sorted(self._swinging, key=SEVERITY.index))


def _alike(status: str, other: str) -> bool:
    """Whether both statuses are unremarkable, so that a change is not news."""
    return status == other or (status in CALM and other in CALM)


def _grave(status: str) -> bool:
    return SEVERITY.index(status) > SEVERITY.index(BEHIND)


def folded(events: list[Event]) -> list[Event]:
    """Merge events that are the same for several partitions into one that lists them: "orders[0-3,7]: OK is now
    STUCK"."""
    same: dict[tuple[str, str], list[Event]] = {}
    for event in events:
        same.setdefault((event.kind, event.text if event.kind == "status" else ""), []).append(event)
    return [_one(some) for some in same.values()]


def _one(events: list[Event]) -> Event:
    first = events[0]
    topics: dict[str, list[int]] = {}
    for event in events:
        topics.setdefault(event.topic, []).append(event.partition)
    names = [f"{topic}[{_ranges(sorted(some))}]" for topic, some in sorted(topics.items())]
    if len(names) > NAMED:
        names[NAMED:] = [f"{len(names) - NAMED} topics more"]
    return Event(
        time=first.time,
        group=first.group,
        kind=first.kind,
        text=f"{', '.join(names)}: {_text(events)}",
        topic=first.topic if len(topics) == 1 else "",
        partition=first.partition if len(events) == 1 else -1,
    )


def _text(events: list[Event]) -> str:
    if len(events) == 1 or events[0].kind == "status":
        return events[0].text
    if events[0].kind == "lost":
        return f"retention deleted {counted(sum(event.offsets for event in events), 'unread offset')}"
    return f"committed went back, by {sum(event.offsets for event in events)} in all"


def _ranges(numbers: list[int]) -> str:
    """Return `0-3,7`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)
