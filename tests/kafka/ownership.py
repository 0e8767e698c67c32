"""What the members of a group read against what the coordinator wrote down: nothing lost, and nothing read again that
its owner before had committed.

A pure function of histories, so that a test of the checker itself needs no broker. A *span* is the time in which a
member owns a partition. It begins at the commit that the coordinator has then, so a record is read again only if it
was not committed by the owner before; within a span offsets follow one another; positions never go back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tests.kafka.coordinator_log import Commit, Owners

SLACK = 1.5  # seconds that a record may be seen after it was handed out
EARLY = 0.05  # seconds that the clocks of what is written down may differ


class Seen(NamedTuple):
    """A record that a life of a member was given. `time` is when that was seen."""

    time: float
    life: str
    partition: int
    offset: int
    number: int


class Span(NamedTuple):
    """One life's time with one partition; `start` is the commit when it began (0 without one)."""

    life: str
    partition: int
    start: int
    begun: float
    ended: float


FOR_EVER = float("inf")


def spans(history: Iterable[Commit | Owners]) -> list[Span]:
    """Who owned what, in order."""
    found: list[Span] = []
    open_: dict[tuple[str, int], int] = {}  # to the place in found
    committed: dict[int, int] = {}
    for event in history:
        if isinstance(event, Commit):
            committed[event.partition] = event.offset or 0
            continue
        wanted = {(life, n) for life, share in event.owners.items() for n in share}
        for key in set(open_) if event.anew else set(open_) - wanted:
            place = open_.pop(key)
            found[place] = found[place]._replace(ended=event.time)
        for life, n in sorted(wanted - set(open_)):
            open_[life, n] = len(found)
            found.append(Span(life, n, committed.get(n, 0), event.time, FOR_EVER))
    return found


def problems(
    history: list[Commit | Owners], seen: list[Seen], ends: dict[int, int], sent: set[int], *, returns: bool = False
) -> list[str]:
    """Every promise that was broken, as sentences. `seen` is in order within a life, `ends` where each partition ends
    now, `sent` the numbers of all records that were acknowledged (records of an unknown outcome: leave them out).
    `returns`: a member may have lost its session and come back into its generation, which nobody writes down; it goes
    on at its commit then."""
    found = _backwards(history)
    owned: dict[tuple[str, int], list[Span]] = {}
    for span in spans(history):
        owned.setdefault((span.life, span.partition), []).append(span)
    rows: dict[tuple[str, int], list[Seen]] = {}
    for one in seen:
        rows.setdefault((one.life, one.partition), []).append(one)
    for key, some in rows.items():
        commits = [one for one in history if isinstance(one, Commit) and one.partition == key[1]] if returns else []
        found += _unexplained(some, owned.get(key, []), commits)
    there = {(one.partition, one.offset) for one in seen}
    for partition, end in ends.items():
        lost = [offset for offset in range(end) if (partition, offset) not in there]
        if lost:
            found.append(f"partition {partition}: {len(lost)} of {end} records nobody read, such as {lost[:5]}")
    numbers: dict[tuple[int, int], int] = {}
    for one in seen:
        if numbers.setdefault((one.partition, one.offset), one.number) != one.number:
            found.append(f"partition {one.partition}, offset {one.offset} was {one.number}, and another record before")
    lost = sorted(sent - set(numbers.values()))
    if lost:
        found.append(f"{len(lost)} acknowledged records nobody read, such as {lost[:5]}")
    if len(set(numbers.values())) != len(numbers):
        found.append("a record stands in the log twice")
    return found


def again(seen: list[Seen]) -> int:
    """How often a record was read that had been read before."""
    return sum(times - 1 for times in Counter((one.partition, one.offset) for one in seen).values())


def _backwards(history: list[Commit | Owners]) -> list[str]:
    found: list[str] = []
    committed: dict[int, int] = {}
    for event in history:
        if isinstance(event, Commit):
            before = committed.get(event.partition, 0)
            if event.offset is None or event.offset < before:
                found.append(f"partition {event.partition}: its commit went back from {before} to {event.offset}")
            committed[event.partition] = event.offset or 0
    return found


def _unexplained(rows: list[Seen], own: list[Span], commits: list[Commit]) -> list[str]:
    """What one life read of one partition must be its spans, one after the other: a row goes on in a span, or it is
    the first of a later one, or at the commit again where one of `commits` says so. All spans that a row may be of
    are followed."""
    found: list[str] = []
    here: set[int] = set()
    expected, before = -1, 0.0
    for row in rows:
        goes_on = row.offset == expected or row.offset in _in_force(commits, before, row.time)
        stay = {n for n in here if goes_on and row.time <= own[n].ended + SLACK}
        first = min(here, default=-1)
        begin = {
            n for n, span in enumerate(own)
            if n > first and span.start == row.offset and span.begun - EARLY <= row.time <= span.ended + SLACK
        }  # fmt: skip
        here = stay | begin
        if not here:
            near = [span for span in own if span.begun - EARLY <= row.time]
            where = f"its last span: {near[-1]}" if near else "it never owned it before"
            found.append(
                f"{row.life}, partition {row.partition}: read {row.offset} at {row.time:.3f} (next was "
                f"{expected}); {where}"
            )
            here = set(range(len(own)))  # one sentence for one break
        expected, before = row.offset + 1, row.time
    return found


def _in_force(commits: list[Commit], since: float, until: float) -> set[int | None]:
    """The positions that a partition had at some moment between the two."""
    if not commits:
        return set()
    first = max((n for n, one in enumerate(commits) if one.time <= since), default=0)
    return {one.offset for one in commits[first:] if one.time <= until + EARLY}
