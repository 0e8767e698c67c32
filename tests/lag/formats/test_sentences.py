"""The sentence for each status, and the command that mends it: the dashboard's and `groups why`'s."""

from __future__ import annotations

import shlex

import pytest

from kcli.admin.groups.rows import Described, Member
from kcli.cli.parsing import parser
from kcli.cli.parsing.registry import every
from kcli.lag.figures import Lag, Sample, Total
from kcli.lag.formats.sentences import explained, reason, remedy
from kcli.lag.history import GroupStanding
from kcli.lag.partition_lag import PartitionFigures
from kcli.lag.status import (
    BEHIND,
    GROWING,
    IDLE,
    LOSING_DATA,
    NO_COMMIT,
    OK,
    ORPHANED,
    PAST_END,
    REWOUND,
    SEVERITY,
    STALLED,
    STUCK,
    TXN_BLOCKED,
    UNKNOWN,
)
from kcli.lag.watch import LagSnapshot

pytestmark = pytest.mark.usefixtures("face")


def group(status: str, lag: int | None = 5, members: int = 1, still: float = 97.0, **facts: object) -> GroupStanding:
    """A group with two partitions of t, of which the first has the status."""
    error = "timed out" if status == UNKNOWN else None
    sample = Sample(
        group="g 1", topic="t", partition=0, committed=None if status == NO_COMMIT else 7, end=5, error=error
    )
    rewound = (9, 7) if status == REWOUND else None
    bad = PartitionFigures(
        lag=Lag(sample=sample, lag=lag, beyond=20 * (status == PAST_END)),
        status=status,
        still=still,
        rewound=rewound,
        falling=2.5,
    )
    good = PartitionFigures(lag=Lag(sample=Sample(group="g 1", topic="t", partition=1), lag=0), status=IDLE)
    facts.setdefault("total", Total(group="g 1", lag=lag, status=status))
    return GroupStanding(
        described=Described(group="g 1", members=[Member(member_id=str(n)) for n in range(members)]),
        partitions=[bad, good],
        status=status,
        **facts,  # type: ignore[arg-type]
    )


CATCH_UP = "kcli lag 'g 1' --max-lag 0 --timeout 10m"


def test_a_group_that_grows_at_no_known_pace_has_a_reason_for_that() -> None:
    standing = group(GROWING, out_rate=3.0)
    standing.partitions[0].falling = None
    assert reason(standing, LagSnapshot()) == "its lag grows, and it reads 3.0 offsets per second"


@pytest.mark.parametrize(
    ("standing", "sentence", "command"),
    [
        (group(IDLE, 0), "it has read everything", None),
        (group(OK), "it keeps up: 5 offsets wait for the next commit", None),
        (group(OK, 1), "it keeps up: 1 offset waits for the next commit", None),
        (group(UNKNOWN), "its offsets could not be read: timed out", "kcli doctor"),
        (group(NO_COMMIT, None, members=0), "it has committed nothing", "kcli groups delete 'g 1'"),
        (group(NO_COMMIT, None), "its member has not committed", "kcli groups members 'g 1'"),
        (
            group(NO_COMMIT, None, total=Total(status=NO_COMMIT, unread=5, no_commit=1, partitions=2)),
            "its member has not committed; 5 offsets are unread",
            "kcli groups members 'g 1'",
        ),
        (
            group(PAST_END, None),
            "t[0] is committed 20 offsets past the end: the topic was truncated or recreated",
            "kcli groups reset 'g 1' -t t:0 --to beginning",
        ),
        (group(BEHIND), "its member has not committed for 1m37s", "kcli groups members 'g 1'"),
        (group(BEHIND, members=3), "none of its 3 members has committed for 1m37s", "kcli groups members 'g 1'"),
        (group(GROWING, members=3), "none of its 3 members has committed for 1m37s", "kcli groups members 'g 1'"),
        (group(BEHIND, still=3.0), "its read rate is unknown", "kcli groups why 'g 1' --over 40s"),
        (
            group(BEHIND, still=3.0, out_rate=0.0),
            "it has not committed while it was watched",
            "kcli groups why 'g 1' --over 40s",
        ),
        (group(BEHIND, eta=90.0, out_rate=3.0), "it will have caught up in 1m30s", CATCH_UP),
        (group(BEHIND, out_rate=3.0), "it reads 3.0 offsets per second", CATCH_UP),
        (group(REWOUND), "t[0] went back from 9 to 7", "kcli groups reset 'g 1' -t t:0 --to 9"),
        (group(TXN_BLOCKED), "t[0] waits for an open transaction", "kcli txn find-hanging t:0 --older-than 0s"),
        (group(GROWING, out_rate=1.0), "t[0] falls behind by 2.5 offsets per second", "kcli groups describe 'g 1'"),
        (
            group(GROWING, members=2, out_rate=1),
            "t[0] falls behind by 2.5 offsets per second",
            "kcli topics alter t -p 4",
        ),
        (group(STUCK), "t[0] has a reader that has not moved for 1m37s", "kcli groups peek 'g 1' -t t:0"),
        (group(ORPHANED, members=0), "no member reads for this group, and 5 offsets wait", "kcli groups delete 'g 1'"),
        (group(ORPHANED), "no member reads t[0], where 5 offsets wait", "kcli groups delete-offsets 'g 1' -t t"),
        (
            group(ORPHANED, members=0, out_rate=3.0),
            "no member reads for this group, but its offsets move: its consumers assign themselves partitions, and 5 "
            "offsets wait",
            "kcli lag 'g 1' --watch",
        ),
        (
            group(ORPHANED, members=0, total=Total(lag=5, unknown=1, past_end=1, status=ORPHANED)),
            "no member reads for this group, and at least 5 offsets wait",
            "kcli groups delete 'g 1'",
        ),
        (
            group(BEHIND, eta=None, out_rate=3.0, total=Total(lag=5, unread=1, no_commit=1, status=BEHIND)),
            "it reads 3.0 offsets per second; 1 offset of 1 partition is not committed",
            "kcli groups members 'g 1'",
        ),
        (
            group(ORPHANED, members=0, records=1),
            "no member reads for this group, and 1 record waits",
            "kcli groups delete 'g 1'",
        ),
        (
            group(LOSING_DATA),
            "t[0] has lost records: the next record to read was deleted",
            "kcli configs get topic t",
        ),
    ],
    ids=lambda value: value.status if isinstance(value, GroupStanding) else None,
)
def test_each_status_has_a_sentence_and_its_command(
    standing: GroupStanding, sentence: str, command: str | None
) -> None:
    assert reason(standing, LagSnapshot()) == sentence
    mend = remedy(standing)
    assert (mend and str(mend[1])) == command
    if command is not None:
        words = shlex.split(command)[1:]
        known = dict(every())
        name = " ".join(words[:2]) if " ".join(words[:2]) in known else words[0]
        assert parser.parse(known[name], words[len(name.split()) :]) is not None, "a line that kcli reads"


def test_members_that_do_not_commit_are_a_matter_of_their_commits() -> None:
    for standing in (group(BEHIND), group(NO_COMMIT, None), group(GROWING)):
        sentence, _ = remedy(standing) or ("", "")
        assert "check that its consumers commit" in sentence, standing.status
        standing.described.type = "streams"
        sentence, _ = remedy(standing) or ("", "")
        assert "commit.interval.ms" in sentence, standing.status


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        (1, "its member owns no partition and has not committed"),
        (2, "its 2 members own no partition and have not committed"),
    ],
)
def test_members_without_partitions_have_nothing_to_commit(members: int, sentence: str) -> None:
    standing = group(NO_COMMIT, None, members=members)
    standing.partitions.clear()
    assert reason(standing, LagSnapshot()) == sentence
    advice, command = remedy(standing) or ("", "")
    assert (advice, str(command)) == ("see what its members do", "kcli groups members 'g 1'")


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (STUCK, "t[0] (and 1 more) has a reader that has not moved for 1m37s"),
        (STALLED, "t[0] (and 1 more) has not moved for 1m37s, while its member reads other partitions"),
    ],
)
def test_a_sentence_has_the_age_of_the_partition_that_it_names(status: str, sentence: str) -> None:
    standing = group(status)
    other = PartitionFigures(lag=Lag(sample=Sample(topic="t", partition=1), lag=3), status=status, still=500.0)
    standing.partitions.append(other)
    assert explained(standing, LagSnapshot()) == sentence


def test_every_status_is_told() -> None:
    assert all(reason(group(status), LagSnapshot()) for status in SEVERITY)


def test_a_transaction_that_is_known_is_named_and_names_are_harmless() -> None:
    look = LagSnapshot(why={("g 1", "t", 0): "waits at 7 for \x1b[31m"})
    assert explained(group(TXN_BLOCKED), look) == "t[0] waits at 7 for \\x1b[31m"


@pytest.mark.parametrize(
    ("standing", "sentence", "advice"),
    [
        (group(OK), "it keeps up: 5 offsets are not acknowledged yet", None),
        (
            group(NO_COMMIT, None, members=0, total=Total(unread=5, no_commit=1, partitions=2)),
            "it has not started to read 1 of its 2 partitions; 5 offsets are unread",
            "start its consumers",
        ),
        (
            group(BEHIND),
            "its member has not acknowledged a record for 1m37s",
            "check that its consumers acknowledge what they read",
        ),
        (
            group(STUCK),
            "t[0] has records that its members have not acknowledged for 1m37s",
            "check that its consumers acknowledge what they read",
        ),
        (
            group(STALLED),
            "t[0] has records that its members have not acknowledged for 1m37s",
            "check that its consumers acknowledge what they read",
        ),
        (
            group(GROWING, members=2, out_rate=1),
            "t[0] falls behind by 2.5 offsets per second",
            "start more consumers, which can share partitions: it has 2",
        ),
    ],
)
def test_a_share_group_commits_nothing_and_its_consumers_share_partitions(
    standing: GroupStanding, sentence: str, advice: str | None
) -> None:
    standing.described.type = "share"
    fix = remedy(standing)
    assert (reason(standing, LagSnapshot()), fix and fix[0]) == (sentence, advice)
