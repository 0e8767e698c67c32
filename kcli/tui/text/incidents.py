"""What is wrong, the worst first: how groups are weighed, which are incidents, and an incident in a line. Pure."""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from kcli.lag.figures import lag_text
from kcli.lag.formats.sentences import reason, remedy
from kcli.lag.status import (
    BEHIND,
    GROWING,
    LOSING_DATA,
    ORPHANED,
    PAST_END,
    REWOUND,
    SEVERITY,
    STALLED,
    STUCK,
    TXN_BLOCKED,
)
from kcli.text.numbers import count, duration, rate
from kcli.tui.alerts.incidents import UNKNOWN
from kcli.tui.text.formatting import age, clocked, status, status_of
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from kcli.lag.events import Event
    from kcli.lag.history import GroupStanding
    from kcli.lag.partition_lag import PartitionFigures
    from kcli.lag.watch import LagSnapshot
    from kcli.tui.alerts.incidents import Incident
    from kcli.tui.trails import Lasting

    Since = Callable[[str], Lasting | None]

WRONG = (LOSING_DATA, ORPHANED, STUCK, PAST_END, GROWING, TXN_BLOCKED, STALLED, REWOUND)
FEW, SLOW = 1000, 1.0
"""An orphan with fewer records, to which fewer come in a second, is small: it comes after all that lags."""
OLD = 86_400.0
"""Seconds after which a small orphan to which nothing comes is folded away."""
AHEAD = 600.0
"""Seconds of growth that count as much as lag that is there."""
PAGE = "\0"
"""Begins the key of a line that opens a page, not a group."""
PLACES, EVENTS = 8, 6  # lines of the details
GROUPS = 12  # groups that a pane names


def unknown(group: str) -> Lasting | None:
    """Since when a group has its status, where nothing is known of before."""
    return None


def places_in(height: int) -> int:
    """How many partitions a pane of a page of this height has room for."""
    return max(PLACES, height - 48)


class Word(NamedTuple):
    """A piece of a line; `tone` is "", bad, warn, good, dim, head, or name: that is cut in the middle."""

    text: str
    tone: str = ""


class Line(NamedTuple):
    """A line of toned pieces; `key` is the group it is of."""

    pieces: Sequence[Word]
    key: str = ""


def small(standing: GroupStanding) -> bool:
    """Whether it is an orphan that hardly matters."""
    few = (standing.total.lag or 0) < FEW and standing.in_least < SLOW
    return standing.status == ORPHANED and few and not standing.total.at_least


def folded(standing: GroupStanding) -> bool:
    """Whether it is a small orphan of long ago."""
    return small(standing) and not standing.in_least and (standing.time_lag or 0.0) >= OLD


def loudness(standing: GroupStanding) -> tuple[float, float, float, str]:
    """The usual order: severity, then the longest to wait, then lag with what the next minutes add to it. Small orphans
    come after groups that lag."""
    severity = SEVERITY.index(BEHIND) - 0.5 if small(standing) else float(SEVERITY.index(standing.status))
    eta = float("inf") if standing.eta is None else standing.eta
    weight = (standing.total.lag or 0) + AHEAD * max(standing.growth or 0.0, 0.0)
    return -severity, -eta, -weight, standing.described.group


def incidents(groups: Sequence[GroupStanding]) -> list[GroupStanding]:
    """The groups of which something is wrong, the worst first."""
    return sorted((group for group in groups if group.status in WRONG and not small(group)), key=loudness)


def board(
    groups: Sequence[GroupStanding],
    snapshot: LagSnapshot,
    most: int,
    since: Since = unknown,
    silences: Container[tuple[str, str]] = (),
    urgent: Sequence[Incident] = (),
) -> list[Line]:
    """An incident in a line, at most this number of lines; the last says how many more there are. What is `urgent` with
    the cluster comes before groups. Groups whose status is in `silences` are one line."""
    every = incidents(groups)
    wrong, quiet = [], []
    for standing in every:
        name = standing.described.group
        if (name, standing.status) in silences:
            quiet.append(name)
        else:
            wrong.append(standing)
    last = [Line([Word(f"acknowledged or muted: {printable(', '.join(quiet))}", "dim")])] * bool(quiet)
    if not wrong and not urgent:
        return [_quiet(groups), *last] if groups else []
    many = len(wrong) + len(urgent)
    room = most if many <= most else most - 1
    lines = [of_cluster(one, snapshot.time) for one in urgent[:room]]
    named = [(standing, standing.described.group) for standing in wrong[: room - len(lines)]]
    lines += [Line(incident(standing, snapshot, since(group)), group) for standing, group in named]
    more = many - len(lines)
    return lines + [Line([Word(f"and {more:,} more", "dim")])] * bool(more) + last


def of_cluster(one: Incident, now: float) -> Line:
    """`✖ broker 2  DOWN 3m  138 partitions under-replicated: orders[0] …`; a click opens the page about it."""
    lasts = f"{'>' * one.before}{duration(max(now - one.begun, 0.0))}"
    glyph, tone = ("?", "warn") if one.kind == UNKNOWN else ("✖", "bad")
    words = [Word(glyph, tone), Word(printable(one.name), "name"), Word(f"{one.kind} {lasts}", tone), Word("")]
    return Line([*words, Word(printable(one.text), "dim")], PAGE + one.place)


def _quiet(groups: Sequence[GroupStanding]) -> Line:
    """The line where there is no incident."""
    orphans = sum(map(small, groups))
    some = f"{len(groups)} group{'s' * (len(groups) > 1)}"
    if orphans:
        some = f"{orphans} small orphan{'s' * (orphans > 1)} of {some}"
    return Line([Word("● Nothing is urgent." if orphans else "● Nothing is wrong.", "good"), Word(some, "dim")])


def incident(standing: GroupStanding, snapshot: LagSnapshot, since: Lasting | None = None) -> list[Word]:
    """`■ search  STUCK 22m  12.3k +5.0/s → index-requests[0-7], reader pod-7, no commit since 07:37`. `>22m`: it was so
    when it was seen first."""
    word, tone = status_of(standing.total)
    glyph, _, word = word.partition(" ")
    worst = _worst(standing)
    lasts = lasting(standing, snapshot.time, since)
    least = ">" if since is not None and snapshot.time - lasts <= since.known else ""
    pace = standing.growth or 0.0
    grows = f" {'+' if pace > 0 else '-'}{rate(abs(pace))}/s" if pace else ""
    reader = "" if standing.status == ORPHANED else f", {_readers(worst)}"  # an orphan has none
    where = f"→ {places(worst)}{reader}"
    silent = min((part.uncommitted for part in worst), default=0.0)
    commit = f", no commit since {clocked(snapshot.time - silent, snapshot.time, '%H:%M')}" if silent else ""
    return [
        Word(glyph, tone),
        Word(printable(standing.described.group), "name"),
        Word(f"{word} {least}{duration(lasts)}" if lasts else word, tone),
        Word(f"{lag_text([standing.total])}{grows}", "bad" if pace > 0 else ""),
        Word(where + commit, "dim"),
    ]


def lasting(standing: GroupStanding, now: float, since: Lasting | None) -> float:
    """For how many seconds a group has its status, at least."""
    still = max((part.still for part in _worst(standing)), default=0.0)
    longest = still if standing.status in (STUCK, STALLED) else 0.0  # else they began under another status
    return max(longest, now - since.begun if since is not None else 0.0)


def places(partitions: Sequence[PartitionFigures]) -> str:
    """`orders[0-7,9], payments[1]`."""
    topics: dict[str, list[int]] = {}
    for part in partitions:
        topics.setdefault(part.lag.sample.topic, []).append(part.lag.sample.partition)
    return ", ".join(f"{printable(topic)}[{_ranges(sorted(numbers))}]" for topic, numbers in sorted(topics.items()))


def _ranges(numbers: list[int]) -> str:
    """`0-7,9`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def _readers(partitions: Sequence[PartitionFigures]) -> str:
    names = sorted({part.lag.sample.client_id or "" for part in partitions} - {""})
    if not names:
        return "no reader"
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"reader {printable(names[0])}{more}"


def _worst(standing: GroupStanding) -> list[PartitionFigures]:
    return [part for part in standing.partitions if part.status == standing.status]


def details(
    standing: GroupStanding,
    snapshot: LagSnapshot,
    events: Sequence[Event],
    unreadable: Sequence[str] = (),
    aimed: Callable[[str], str] = str,
    most: int = PLACES,
) -> list[Line]:
    """A group beside the list of all: why, what to do, its figures, its worst partitions, what happened to it.
    `unreadable` are sentences about records that it reads next and that do not decode; `aimed` makes a command one of
    this cluster; `most` is how many partitions are shown."""
    described, advice = standing.described, remedy(standing)
    eta = duration(standing.eta) if standing.eta is not None else "–"
    members = f"{len(described.members)} member{'s' * (len(described.members) != 1)}"
    facts = [
        ("why", reason(standing, snapshot)),
        *(
            (label, text)
            for sentence in unreadable
            for label, text in zip(("next", ""), sentence.splitlines(), strict=False)
        ),
        *([("do", advice[0]), ("", f"$ {aimed(str(advice[1]))}")] if advice is not None else []),
        ("lag", f"{lag_text([standing.total])}   time lag {age(standing)}   ETA {eta}"),
        ("rates", f"in {rate(standing.in_rate)}/s   out {rate(standing.out_rate)}/s"),
        ("group", f"{described.state}, {described.type}, {members}"),
    ]
    lines = [Line([Word(f"{label:<6}", "dim"), Word(printable(text))]) for label, text in facts]
    lines += [Line([]), Line([Word("PARTITIONS", "head"), Word(f"{len(standing.partitions)}, the worst first", "dim")])]
    parts = sorted(standing.partitions, key=lambda part: (-SEVERITY.index(part.status), -(part.lag.lag or 0)))
    lines += [Line(_part(part)) for part in parts[:most]]
    if events:
        lines += [Line([]), Line([Word("EVENTS", "head"), Word("the newest first", "dim")])]
        for event in list(reversed(events))[:EVENTS]:
            then = clocked(event.time, snapshot.time)
            lines.append(Line([Word(then, "dim"), Word(printable(event.text))]))
    return lines


def _part(part: PartitionFigures) -> list[Word]:
    """A partition of a group in a line."""
    sample = part.lag.sample
    word, tone = status(part.status)
    return [
        Word(word[:1], tone),
        Word(f"{count(part.lag.lag):>7}"),
        Word(f"{printable(sample.topic)}[{sample.partition}]", "name"),
        Word(printable(sample.client_id or "no reader"), "dim"),
    ]


def group_lines(
    title: str,
    groups: Sequence[GroupStanding],
    most: int = GROUPS,
    why: Callable[[GroupStanding], str] | None = None,
) -> list[Line]:
    """A heading with how many there are, and a line for each of the worst, which says why where there is room."""
    lines = [
        Line([]),
        Line([Word(title, "head"), Word(f"{len(groups)}, the worst first" if groups else "none", "dim")]),
    ]
    for group in groups[:most]:
        word, tone = status(group.status)
        name = group.described.group
        pieces = [Word(word[:1], tone), Word(f"{lag_text([group.total]):>7}"), Word(printable(name), "name")]
        pieces += [Word(word[2:], tone), *([Word(printable(why(group)), "dim")] if why is not None else [])]
        lines.append(Line(pieces, name))
    return lines


def partition_lines(groups: Sequence[GroupStanding], most: int) -> list[Line]:
    """The partitions with the most lag, whatever group reads them."""
    parts = ((group.described.group, part) for group in groups for part in group.partitions if part.lag.lag)
    worst = nlargest(most, parts, key=lambda one: one[1].lag.lag or 0)
    head = [Line([]), Line([Word("PARTITIONS", "head"), Word("with the most lag", "dim")])]
    return [*head, *(Line([*_part(part)[:3], Word(printable(name))], name) for name, part in worst)] if worst else []
