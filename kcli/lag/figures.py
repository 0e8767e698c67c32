"""What lag means (docs/lag.md): pure functions over one sample of a partition, without clock or requests. The dashboard
applies the same functions to a series of samples.

Offsets are not record counts: lag is "offsets behind", including compacted records and transaction markers.
"""

from __future__ import annotations

from kcli.lag import status as rules
from kcli.lag.status import NO_COMMIT, OK, PAST_END, SEVERITY, UNKNOWN, Facts
from kcli.text.numbers import counted, lower_bound
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any


class Sample(Value):
    """A partition of a group at one moment.

    `committed` None: no commit. `end`, `start`, `stable` None: unknown, `error` is the reason. `owned` None: the owner
    is unknown (a rebalance is in progress), else whether a member owns it. Offsets are absolute. `counted` is the lag
    reported by a share group's coordinator; its `committed` is the start of the group's window, and `begins` is the
    offset at which it will start a partition that it has not read, None for the log start. `written` is the timestamp
    (ms) of the first unread record, if it was requested. `stable_end`: `end` is the last stable offset, not the high
    watermark. `drained`: a read found no record between the commit and the end, only markers and gaps.
    """

    group: str = ""
    topic: str = ""
    partition: int = 0
    committed: int | None = None
    begins: int | None = None
    end: int | None = None
    start: int | None = None
    stable: int | None = None
    owned: bool | None = None
    member_id: str | None = None
    client_id: str | None = None
    host: str | None = None
    error: str | None = None
    counted: int | None = None
    written: int | None = None
    stable_end: bool = False
    drained: bool = False


class Lag(Value):
    """The lag of a sample. `lag` is None if the end is unknown, records are not committed, or the commit is past the
    end. Without a commit, `unread` is the distance from the log start. `lost` are the offsets that retention deleted
    before they were read; `beyond` is how far the commit is past the end, because the topic was truncated or recreated.
    """

    sample: Sample = field(factory=Sample)
    lag: int | None = None
    unread: int | None = None
    lost: int = 0
    beyond: int = 0
    status: str = OK

    @property
    def committed(self) -> int | None:
        """The group's next offset; None without a commit."""
        return self.sample.committed

    @property
    def end(self) -> int | None:
        """The log end offset; None if it could not be read."""
        return self.sample.end


class Total(Value):
    """A topic of a group, or a whole group. `lag` is the sum of known lags, None without any. It is a lower bound
    (`at_least`) while the lag of `unknown` partitions is not known: of those that could not be read, and of `past_end`,
    whose commit is past the end. `alike` of the partitions have the `status`."""

    group: str = ""
    topic: str | None = None
    topics: int = 0
    partitions: int = 0
    lag: int | None = None
    unread: int = 0
    lost: int = 0
    beyond: int = 0
    no_commit: int = 0
    unknown: int = 0
    past_end: int = 0
    status: str = OK
    alike: int = 0
    members: int = 0
    hosts: list[str] = field(factory=list)

    @property
    def unreadable(self) -> int:
        """How many of its partitions could not be read."""
        return self.unknown - self.past_end

    @property
    def at_least(self) -> bool:
        """Whether the lag may be more than the sum."""
        return self.unknown > 0


def facts_of(sample: Sample, threshold: int = 0, **over_time: Any) -> Facts:
    """Return the facts that determine the status of a partition: its sample, and what only a series of samples
    shows."""
    return Facts(
        committed=sample.committed,
        begins=sample.begins,
        end=sample.end,
        start=sample.start,
        stable=sample.stable,
        owned=sample.owned,
        error=sample.error,
        counted=sample.counted,
        stable_end=sample.stable_end,
        drained=sample.drained,
        threshold=threshold,
        **over_time,
    )


def measure(sample: Sample, threshold: int = 0) -> Lag:
    """Return the lag of one partition and the status that a single sample can show. Lag up to `threshold` is OK."""
    return measured(sample, facts_of(sample, threshold))


def measured(sample: Sample, facts: Facts) -> Lag:
    """Return the lag and the status of a partition."""
    out = Lag(sample=sample, lag=rules.lag(facts), status=rules.status(facts))
    if out.status == UNKNOWN:
        return out
    if sample.committed is None:
        out.unread = rules.uncommitted(facts)
        return out
    out.beyond, out.lost = rules.beyond(facts), max((sample.start or 0) - sample.committed, 0)
    if sample.counted is not None:
        out.lost = min(out.lost, sample.counted)  # a share group may have finished records past its start
    return out


def total(rows: Iterable[Lag], group: str, topic: str | None = None) -> Total:
    """Sum the partitions of a group, or of one topic of it."""
    out = Total(group=group, topic=topic)
    topics, members, hosts = set(), set(), set()
    known: list[int] = []
    committed = False
    statuses = []
    for row in rows:
        sample = row.sample
        topics.add(sample.topic)
        statuses.append(row.status)
        out.partitions += 1
        out.lost += row.lost
        out.beyond += row.beyond
        out.unread += row.unread or 0
        out.no_commit += row.status == NO_COMMIT
        out.unknown += row.status in (UNKNOWN, PAST_END)
        out.past_end += row.status == PAST_END
        if row.lag is not None:
            known.append(row.lag)
            committed = committed or sample.committed is not None
        if sample.member_id is not None:
            members.add(sample.member_id)
            hosts.add(sample.host or "")
    out.topics, out.members, out.hosts = len(topics), len(members), sorted(hosts)
    out.lag = sum(known) if committed or (known and len(known) == out.partitions) else None  # empty ones do not count
    out.status = max(statuses, key=SEVERITY.index, default=NO_COMMIT)
    out.alike = statuses.count(out.status)
    return out


def lag_text(totals: Iterable[Total]) -> str:
    """Return the lag of groups or topics as text: `≥ 146k` while the lag of a partition is unknown."""
    some = list(totals)
    known = [row.lag for row in some if row.lag is not None]
    return lower_bound(sum(known) if known else None, sum(row.unknown for row in some))


def by_topic(rows: Iterable[Lag]) -> list[Total]:
    """Return totals per group and topic, in the order of their first partition."""
    parts: dict[tuple[str, str], list[Lag]] = {}
    for row in rows:
        parts.setdefault((row.sample.group, row.sample.topic), []).append(row)
    return [total(some, group, topic) for (group, topic), some in parts.items()]


def note(lost: int, beyond: int, unread: int | None, error: str | None = None) -> str | None:
    """Return what the numbers alone do not show; None if there is nothing."""
    parts = []
    if error is not None:
        parts.append(error)
    if lost:
        parts.append(f"{lost} lost by retention")
    if beyond:
        parts.append(f"committed {beyond} beyond end")
    if unread:
        parts.append(f"{counted(unread, 'offset')} not committed")
    return "; ".join(parts) or None


class Breach(Value):
    """A limit that a group exceeds, in a sentence. `partition` is the one that exceeds it most, -1 if it concerns the
    whole group; `limit` is the command-line option."""

    group: str = ""
    topic: str = ""
    partition: int = -1
    limit: str = ""
    text: str = ""


def over(totals: Iterable[tuple[Total, Sequence[Lag]]], most: int, noun: str = "offset") -> list[Breach]:
    """Return why "no group is more than `most` behind" does not hold; empty if it holds. A partition with records but
    without a commit counts with all its records. `noun` is what the totals count."""
    why = []
    for row, parts in totals:
        lag = row.lag or 0
        if lag > most:
            text = f"{row.group} is {counted(lag, noun)} behind, over {most:,}"
        elif lag + row.unread > most:
            where = counted(row.no_commit, "partition")
            text = f"{row.group} has not committed {counted(row.unread, noun)} of {where}, over {most:,}"
        else:
            continue
        at = max(parts, key=lambda part: (part.lag or 0) if lag > most else (part.unread or 0)).sample
        limit = f"max-lag {most}"
        why.append(Breach(group=row.group, topic=at.topic, partition=at.partition, limit=limit, text=text))
    return why


def untold(totals: Iterable[tuple[Total, Sequence[Lag]]], named: Iterable[str], limit: str) -> list[Breach]:
    """Return why the lag of these groups is unknown. Each named group must exist and have a commit; without names, at
    least one group must. A commit past the end belongs to another log, so the end says nothing about it."""
    some = list(totals)
    why = []
    reading = {row.group for row, _ in some if row.partitions}
    there = {row.group for row, _ in some}
    for name in dict.fromkeys(named):
        if name not in there:
            text = f"{name} is not among the groups that were read, so its lag is unknown"
        elif name not in reading:
            text = f"{name} has committed nothing and owns nothing there, so its lag is unknown"
        else:
            continue
        why.append(Breach(group=name, limit=limit, text=text))
    if not why and not reading:
        text = "no group reads anything there, so the assertion fails"
        why.append(Breach(limit=limit, text=text))
    for row, parts in some:
        if row.past_end:
            at = max(parts, key=lambda part: part.beyond).sample
            text = (
                f"{row.group} has committed {row.beyond} beyond the end: the topic was truncated or recreated, so "
                f"its lag is unknown; reset its offsets to fix this"
            )
            why.append(Breach(group=row.group, topic=at.topic, partition=at.partition, limit=limit, text=text))
    return why
