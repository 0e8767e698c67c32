"""Explains why a group lags, in a sentence, and what to do about it. No I/O."""

from __future__ import annotations

from kcli.errors import Hint
from kcli.lag import status as lag_status
from kcli.lag.history import GroupStanding
from kcli.lag.partition_lag import PartitionFigures
from kcli.lag.status import GROWING, LOSING_DATA, PAST_END, REWOUND, STALLED, STUCK, TXN_BLOCKED
from kcli.lag.watch import LagSnapshot
from kcli.text.escape import visible
from kcli.text.numbers import count, counted, duration, rate

PLACED = (STUCK, STALLED, LOSING_DATA, PAST_END, REWOUND, TXN_BLOCKED, GROWING)
"""Statuses that concern some partitions."""
SILENT = 6.0
"""Seconds without a commit after which members are assumed not to commit: the default auto.commit.interval.ms
is 5 s."""
RETIRED = "start its consumers, or delete it if it is retired"


def explained(standing: GroupStanding, snapshot: LagSnapshot) -> str:
    """Return why a group has its status, with its worst partition; "" if the status needs no explanation."""
    worst = _worst(standing)
    sentence = _sentence(standing, snapshot)
    whole = standing.status == GROWING and (sentence.startswith("it ") or _silence(standing) > 0)
    if sentence and not whole and standing.status in PLACED:
        sentence = f"{_place(worst)} {sentence}"
    if standing.loss_in is not None and standing.status != LOSING_DATA:
        sentence = f"{sentence}; " * bool(sentence) + f"unread records will be deleted in {duration(standing.loss_in)}"
    return sentence


def _place(worst: list[PartitionFigures]) -> str:
    """Return `orders[0] (and 2 more)`."""
    first = worst[0].lag.sample
    more = f" (and {len(worst) - 1} more)" if len(worst) > 1 else ""
    return f"{visible(first.topic)}[{first.partition}]{more}"


def _worst(standing: GroupStanding) -> list[PartitionFigures]:
    """Return the partitions that determine the group's status, the most behind first."""
    return sorted(
        (part for part in standing.partitions if part.status == standing.status),
        key=lambda part: (-(part.lag.lag or 0), -part.lag.beyond),
    )


def _sentence(standing: GroupStanding, snapshot: LagSnapshot) -> str:
    worst = _worst(standing)
    if seconds := _silence(standing):
        return f"{_members(standing)} {_done(standing)} for {duration(seconds)}"
    match standing.status:
        case lag_status.ORPHANED:
            return _unread_by_members(standing, worst)
        case lag_status.STUCK | lag_status.STALLED if _shares(standing):
            return f"has records that its members have not acknowledged for {duration(worst[0].still)}"
        case lag_status.STUCK if (had := worst[0].assigned) is not None and had < worst[0].still:
            return f"has not moved for {duration(worst[0].still)}; its reader was assigned it {duration(had)} ago"
        case lag_status.STUCK:
            return f"has a reader that has not moved for {duration(worst[0].still)}"
        case lag_status.STALLED:
            return f"has not moved for {duration(worst[0].still)}, while its member reads other partitions"
        case lag_status.LOSING_DATA:
            return "has lost records: the next record to read was deleted"
        case lag_status.PAST_END:
            past = counted(worst[0].lag.beyond, "offset")
            return f"is committed {past} past the end: the topic was truncated or recreated"
        case lag_status.REWOUND if worst[0].rewound is not None:
            before, after = worst[0].rewound
            return f"went back from {before:,} to {after:,}"
        case lag_status.TXN_BLOCKED:
            at = worst[0].lag.sample
            return visible(snapshot.why.get((at.group, at.topic, at.partition), "")) or "waits for an open transaction"
        case lag_status.GROWING if standing.falling and len(worst) == len(standing.partitions):
            return f"it falls behind by {rate(standing.falling)} offsets per second"
        case lag_status.GROWING if pace := sum(part.falling or 0.0 for part in worst):
            return f"falls behind by {rate(pace)} offsets per second"
        case lag_status.BEHIND if standing.eta:
            return f"it will have caught up in {duration(standing.eta)}"
    return ""


def reason(standing: GroupStanding, snapshot: LagSnapshot) -> str:
    """Return an explanation for every status: also what a healthy group does, and what is unknown."""
    sentence, total = _reason(standing, snapshot), standing.total
    if not total.unread or standing.status == lag_status.NO_COMMIT:
        return sentence
    verb = "is" if total.unread == 1 else "are"
    return (
        f"{sentence}; {counted(total.unread, 'offset')} of {counted(total.no_commit, 'partition')} {verb} not committed"
    )


def _reason(standing: GroupStanding, snapshot: LagSnapshot) -> str:
    sentence = explained(standing, snapshot)
    if sentence:
        return sentence
    match standing.status:
        case lag_status.NO_COMMIT:
            return _uncommitted(standing)
        case lag_status.UNKNOWN:
            problem = next((part.lag.sample.error for part in _worst(standing) if part.lag.sample.error), None)
            return f"its offsets could not be read: {visible(problem)}" if problem else "its offsets could not be read"
        case lag_status.BEHIND | lag_status.GROWING if standing.out_rate is None and not standing.out_least:
            return "its read rate is unknown"
        case lag_status.BEHIND | lag_status.GROWING if not standing.out_least:
            return f"it has not {_done(standing)} while it was watched"
        case lag_status.GROWING:
            return f"its lag grows, and it {_reads(standing)}"
        case lag_status.BEHIND:
            return f"it {_reads(standing)}"
    waiting = standing.total.lag or 0
    if waiting and all(part.lag.sample.drained for part in standing.partitions if part.lag.lag):
        return f"it has read every record; {counted(waiting, 'offset')} {'holds' if waiting == 1 else 'hold'} none"
    if waiting and _shares(standing):
        return f"it keeps up: {_offsets_are(waiting)} not acknowledged yet"
    if waiting:
        return f"it keeps up: {_waiting(waiting, standing.records)} for the next commit"
    return "it has read everything"


def remedy(standing: GroupStanding) -> tuple[str, Hint] | None:
    """Return what to do about it, and the hint with the command; None for a group that needs nothing."""
    group = _word(standing.described.group)
    worst = _worst(standing)
    sample = worst[0].lag.sample if worst else None
    at = f"{_word(sample.topic)}:{sample.partition}" if sample is not None else ""
    if advice := _about_members(standing):
        return advice, Hint("members", group=group)
    match standing.status:
        case lag_status.ORPHANED if standing.described.members and sample is not None:
            advice = "subscribe its consumers to the topic, or delete its offsets if the topic is no longer read"
            return advice, Hint("delete-offsets", group=group, topic=_word(sample.topic))
        case lag_status.ORPHANED if standing.out_least:
            return "see how fast it reads", Hint("watch-lag", group=group)
        case lag_status.ORPHANED:
            return RETIRED, Hint("delete-group", group=group)
        case lag_status.STUCK:
            return "read the record it stops at", Hint("peek", group=group, at=at)
        case lag_status.LOSING_DATA if sample is not None:
            return "compare retention with the lag", Hint("topic-configs", topic=_word(sample.topic))
        case lag_status.PAST_END if sample is not None:
            return "choose where it continues", Hint("reset", group=group, at=at, to="beginning")
        case lag_status.REWOUND if worst and worst[0].rewound is not None:
            before = worst[0].rewound[0]
            return "undo it if it was a mistake", Hint("reset", group=group, at=at, to=before)
        case lag_status.TXN_BLOCKED:
            return "find the open transaction", Hint("find-hanging", at=at)
        case lag_status.GROWING:
            return _more_hands(standing, group)
        case lag_status.BEHIND if not standing.out_least:
            return "watch it for longer", Hint("why", group=group)
        case lag_status.BEHIND:
            return "wait until it has caught up", Hint("caught-up", group=group)
        case lag_status.NO_COMMIT:
            return RETIRED, Hint("delete-group", group=group)
        case lag_status.UNKNOWN:
            return "find out what cannot be reached", Hint("doctor")
    return None


def _about_members(standing: GroupStanding) -> str:
    """Return what to look for in the members of a group; "" if they are not the cause of its status."""
    if _shares(standing) and (advice := _advice_to_share(standing)):
        return advice
    if _silence(standing) or (standing.described.members and standing.partitions and _committed_nothing(standing)):
        if standing.described.type == "streams":
            return "check that its application makes progress: it commits every commit.interval.ms"
        return "check that its consumers commit: enable.auto.commit=true, or a commit after each batch"
    match standing.status:
        case lag_status.STALLED:
            return "see whether its member has paused it"
        case lag_status.BEHIND if standing.out_least and standing.total.unread:
            return "see who owns the partitions without a commit"
        case lag_status.NO_COMMIT if standing.described.members:
            return "see what its members do"
    return ""


def _advice_to_share(standing: GroupStanding) -> str:
    """Return advice for a share group, whose members do not commit; "" if the same applies as to other groups."""
    if standing.status == lag_status.NO_COMMIT:
        return "see what its members do" if standing.described.members else "start its consumers"
    if standing.status in (STUCK, STALLED) or _silence(standing):
        return "check that its consumers acknowledge what they read"
    return ""


def _silence(standing: GroupStanding) -> float:
    """Return for how many seconds the members of a lagging group have not committed, 0 if they have."""
    if standing.status not in (lag_status.BEHIND, GROWING) or standing.out_least or not standing.described.members:
        return 0.0
    still = min((part.still for part in _worst(standing)), default=0.0)
    return still if still > SILENT else 0.0


def _waiting(number: int | None, records: int | None = None) -> str:
    """Return `1 record is waiting` or `no record is waiting` if records were counted, `12.3k offsets are waiting`
    otherwise."""
    if records == 0:
        return "no record waits"
    what, number = ("offset", number) if records is None else ("record", records)
    return f"{count(number)} {what}{' waits' if number == 1 else 's wait'}"


def _unread_by_members(standing: GroupStanding, orphans: list[PartitionFigures]) -> str:
    """Return why a group is ORPHANED: it has no members, or none that reads these partitions. A consumer with manual
    assignment, as in Flink and Spark, is not a member."""
    members = standing.described.members
    if members:
        return f"no member reads {_place(orphans)}, where {_waiting(sum(part.lag.lag or 0 for part in orphans))}"
    waiting = _waiting(standing.total.lag, standing.records)
    waiting = f"at least {waiting}" if standing.total.at_least else waiting
    if standing.out_least:
        assigned = "but its offsets move: its consumers assign themselves partitions"
        return f"no member reads for this group, {assigned}, and {waiting}"
    return f"no member reads for this group, and {waiting}"


def _committed_nothing(standing: GroupStanding) -> bool:
    """Whether records are waiting for a group that has no commit at all."""
    nothing = all(part.lag.sample.committed is None for part in standing.partitions)
    return standing.status == lag_status.NO_COMMIT and nothing


def _uncommitted(standing: GroupStanding) -> str:
    """Return why a group is NO COMMIT, with the number of uncommitted offsets."""
    total = standing.total
    where, unread = f"{total.no_commit} of its {total.partitions} partitions", f"{_offsets_are(total.unread)} unread"
    if _shares(standing):
        return f"it has not started to read {where}; {unread}"
    if not standing.partitions and standing.described.members:
        members = len(standing.described.members)
        who = (
            "its member owns no partition and has"
            if members == 1
            else f"its {members} members own no partition and have"
        )
        return f"{who} not committed"
    if _committed_nothing(standing):
        who = f"{_members(standing)} committed" if standing.described.members else "it has committed nothing"
        return f"{who}; {unread}" if total.unread else who
    return f"{where} {'has' if total.no_commit == 1 else 'have'} no commit; {unread} there"


def _offsets_are(number: int) -> str:
    return f"{counted(number, 'offset')} {'is' if number == 1 else 'are'}"


def _reads(standing: GroupStanding) -> str:
    """Return `reads 30 offsets a second`, with `at least` while the rate of a partition is unknown."""
    least = "at least " if standing.out_rate is None else ""
    return f"reads {least}{rate(standing.out_least)} offsets per second"


def _shares(standing: GroupStanding) -> bool:
    """Whether it is a share group, whose members acknowledge records instead of committing offsets."""
    return standing.described.type == "share"


def _done(standing: GroupStanding) -> str:
    return "acknowledged a record" if _shares(standing) else "committed"


def _members(standing: GroupStanding) -> str:
    """Return `its member has not`, `none of its 3 members has`."""
    members = len(standing.described.members)
    return "its member has not" if members == 1 else f"none of its {members} members has"


def _more_hands(standing: GroupStanding, group: str) -> tuple[str, Hint]:
    """Return advice for a group that is too slow: add members, and partitions once each has a member."""
    members, partitions = len(standing.described.members), len(standing.partitions)
    if _shares(standing):
        sentence = f"start more consumers, which can share partitions: it has {members}"
        return sentence, Hint("describe-group", group=group)
    if members < partitions:
        sentence = f"start more consumers: {members} of at most {partitions} read"
        return sentence, Hint("describe-group", group=group)
    topic = _worst(standing)[0].lag.sample.topic
    twice = 2 * sum(row.lag.sample.topic == topic for row in standing.partitions)
    sentence = "add partitions and consumers: each partition has its own member already"
    return sentence, Hint("add-partitions", topic=_word(topic), partitions=twice)


def _word(name: str) -> str:
    """Return a name quoted for a shell, for a hint."""
    return visible(name)
