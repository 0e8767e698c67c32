"""What lag means (docs/lag.md): pure functions over one sample of a partition. No clock, no request; the dashboard
uses the same ones over a ring of samples.

Offsets are not record counts (E70): lag is "offsets behind", compaction and transaction markers included.
"""

from __future__ import annotations

from kcli.lag.status import BEHIND, LOSING_DATA, NO_COMMIT, OK, ORPHANED, UNKNOWN, worst
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Sample(Value):
    """A partition of a group at one moment.

    `committed` None: no commit. `end`, `start`, `stable` None: unknown, `error` is the reason. `owned` None: the owner
    is unknown (a rebalance is in progress), else whether a member owns it. Offsets are absolute. `counted` is the lag
    as a share group's coordinator counts it; its `committed` is the start of the group's window. `written` is the
    timestamp (ms) of the first unread record, if it was requested.
    """

    group: str = ""
    topic: str = ""
    partition: int = 0
    committed: int | None = None
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


class Lag(Value):
    """The lag of a sample. `lag` is None without a commit or an end. `unread` is the distance from the log start
    without a commit (E69), `lost` the offsets that retention deleted before they were read, `beyond` how far the commit
    is past the end: the topic was truncated or recreated (E68)."""

    sample: Sample = field(factory=Sample)
    lag: int | None = None
    unread: int | None = None
    lost: int = 0
    beyond: int = 0
    status: str = OK


class Total(Value):
    """A topic of a group, or a whole group. `lag` is the sum of known lags, None without any; `alike` of the
    partitions have the `status`."""

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
    status: str = OK
    alike: int = 0
    members: int = 0
    hosts: list[str] = field(factory=list)


def measure(sample: Sample, threshold: int = 0) -> Lag:
    """The lag of one partition and the status that one sample can honestly tell. Up to `threshold` is OK."""
    if sample.error is not None or sample.end is None:
        return Lag(sample=sample, status=UNKNOWN)
    start = sample.start if sample.start is not None else 0
    if sample.committed is None:
        return Lag(sample=sample, unread=max(sample.end - start, 0), status=NO_COMMIT)
    behind = sample.end - sample.committed if sample.counted is None else sample.counted
    lag, beyond, lost = max(behind, 0), max(-behind, 0), max(start - sample.committed, 0)
    if sample.counted is not None:
        lost = min(lost, lag)  # beyond its start a share group may have been through with them
    return Lag(sample=sample, lag=lag, lost=lost, beyond=beyond, status=_status(lag, lost, sample.owned, threshold))


def _status(lag: int, lost: int, owned: bool | None, threshold: int) -> str:
    if lost:
        return LOSING_DATA
    if lag and owned is False:
        return ORPHANED
    return BEHIND if lag > threshold else OK


def total(rows: Iterable[Lag], group: str, topic: str | None = None) -> Total:
    """The sum of partitions of a group, or of one topic of it."""
    out = Total(group=group, topic=topic)
    topics, members, hosts = set(), set(), set()
    known: list[int] = []
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
        out.unknown += row.status == UNKNOWN
        out.status = worst(out.status, row.status)
        if row.lag is not None:
            known.append(row.lag)
        if sample.member_id is not None:
            members.add(sample.member_id)
            hosts.add(sample.host or "")
    out.topics, out.members, out.hosts = len(topics), len(members), sorted(hosts)
    out.lag = sum(known) if known else None
    out.alike = statuses.count(out.status)
    return out


def by_topic(rows: Iterable[Lag]) -> list[Total]:
    """Totals per group and topic, in the order of their first partition."""
    parts: dict[tuple[str, str], list[Lag]] = {}
    for row in rows:
        parts.setdefault((row.sample.group, row.sample.topic), []).append(row)
    return [total(some, group, topic) for (group, topic), some in parts.items()]


def note(lost: int, beyond: int, unread: int | None, error: str | None = None) -> str | None:
    """What the numbers do not say by themselves; None when they do."""
    parts = []
    if error is not None:
        parts.append(error)
    if lost:
        parts.append(f"{lost} lost by retention")
    if beyond:
        parts.append(f"committed {beyond} beyond end")
    if unread:
        parts.append(f"{unread} from log start")
    return "; ".join(parts) or None


def over(totals: Iterable[Total], most: int) -> list[str]:
    """Why "no group is more than `most` behind" does not hold, a sentence each; [] when it holds. A partition
    without a commit but with records was not read, so it counts with what it holds."""
    why = []
    for row in totals:
        lag = row.lag or 0
        if lag > most:
            why.append(f"{row.group} is {lag} behind, over {most}")
        elif lag + row.unread > most:
            unread = f"{row.no_commit} partition{'s' if row.no_commit != 1 else ''} with {row.unread} offsets to read"
            why.append(f"{row.group} committed nothing on {unread}, over {most}")
    return why


def untold(totals: Iterable[Total], named: Iterable[str] = (), *, ends_move: bool = False) -> list[str]:
    """Why the lag of these groups is unknown, a sentence each. Each named group must exist and have a commit; of all
    groups, at least one. A commit past the end belongs to another log, of which the end says nothing, unless ends move
    back by themselves (`ends_move`: the last stable offset)."""
    some = list(totals)
    why = []
    reading = {row.group for row in some if row.partitions}
    there = {row.group for row in some}
    for name in dict.fromkeys(named):
        if name not in there:
            why.append(f"{name} is not among the groups that were looked at, so nothing is known of its lag")
        elif name not in reading:
            why.append(f"{name} has committed nothing and owns nothing there, so nothing is known of its lag")
    if not why and not reading:
        why.append("no group was found that reads anything there: an assertion about none does not hold")
    for row in some:
        if row.beyond and not ends_move:
            why.append(
                f"{row.group} has committed {row.beyond} beyond the end: the topic was truncated or recreated, and "
                "its lag is unknown; `kcli groups reset` brings it back into the log"
            )
    return why
