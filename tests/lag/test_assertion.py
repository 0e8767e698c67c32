"""Assertions over looks, lines of a recording, and the metrics page."""

from __future__ import annotations

import pytest

from kcli.admin.groups.rows import Described, GroupMissing, Member
from kcli.errors import ConnectError, DecodeError, KcliError
from kcli.lag.assertion import LagAssertion
from kcli.lag.figures import Sample
from kcli.lag.formats.prometheus import nothing, render
from kcli.lag.formats.recording import line, read
from kcli.lag.history import History
from kcli.lag.snapshot import GroupSnapshot, Snapshot
from kcli.lag.watch import LagSnapshot
from kcli.model import TopicPartition
from tests.lag.test_history import MEMBER, snapshot_of


def at(time: float, behind: int, history: History | None = None, unread: int = 0) -> LagSnapshot:
    committed: dict[int, int | None] = {0: 1000 - behind}
    if unread:
        committed[1] = None
    shot = snapshot_of(committed, 1000, start=1000 - unread if unread else 0)
    return LagSnapshot(time=time, groups=(history or History()).add(time, shot))


def broken(assertion: LagAssertion, snapshot: LagSnapshot) -> list[str]:
    return [breach.text for breach in assertion.broken(snapshot)]


def test_a_promise_that_holds_is_kept_at_once_without_a_duration() -> None:
    assert LagAssertion(10, None).kept(at(0.0, 10))
    assert not LagAssertion(10, None).kept(at(0.0, 11))
    assert broken(LagAssertion(10, None), at(0.0, 11)) == ["g is 11 offsets behind, over 10"]


def test_it_has_to_hold_for_so_long_and_a_break_begins_anew() -> None:
    assertion = LagAssertion(10, None, hold=10.0)
    assert [assertion.kept(at(t, behind)) for t, behind in [(0, 5), (9, 5), (10, 5)]] == [False, False, True]
    assert [assertion.kept(at(t, behind)) for t, behind in [(11, 50), (12, 5), (21, 5), (22, 5)]] == [
        False, False, False, True,
    ]  # fmt: skip


def test_offsets_that_nobody_committed_count_as_unread() -> None:
    assert broken(LagAssertion(10, None), at(0.0, 0, unread=50)) == [
        "g has not committed 50 offsets of 1 partition, over 10"
    ]


def test_a_time_lag_is_judged_where_it_is_known_and_unknown_is_not_fine() -> None:
    history = History()
    for n in range(10):
        seen = LagSnapshot(time=5.0 * n, groups=history.add(5.0 * n, snapshot_of({0: 500}, 600 + 100 * n)))
    assert broken(LagAssertion(None, 30.0), seen) == ["g is at least 45 s behind, over 30 s"]
    untold = ["g: the age of its first unread record is unknown"]
    assert broken(LagAssertion(None, 60.0), seen) == untold  # at least 45 s may be an hour
    first = seen.groups[0].partitions[0]
    first.time_lag_least, first.time_lag_exact = False, True
    seen.groups[0].date()
    assert broken(LagAssertion(None, 60.0), seen) == []
    seen.groups[0].partitions[0].time_lag = seen.groups[0].time_lag = None
    assert broken(LagAssertion(None, 60.0), seen) == untold


def test_nothing_is_promised_of_groups_that_nobody_could_read() -> None:
    failed = LagSnapshot(time=1.0, failed={"g": KcliError("coordinator is down")})
    unlisted = LagSnapshot(time=1.0, brokers={2: KcliError("broker 2 is down")})
    for assertion in (LagAssertion(10, None), LagAssertion(None, 5.0), LagAssertion(10, None, groups=["g"])):
        assert not assertion.kept(failed)
        assert not assertion.kept(unlisted)
    half = snapshot_of({0: 10}, 10)
    half.groups[0].samples[0].error = "t [0]: no leader"
    seen = LagSnapshot(time=1.0, groups=History().add(1.0, half))
    assert LagAssertion(10, None).unread(seen) == ["g: t [0]: no leader"]
    assert not LagAssertion(10, None).kept(seen)


def test_a_look_that_could_not_be_made_begins_anew() -> None:
    assertion = LagAssertion(10, None, hold=10.0)
    assert not assertion.kept(at(0.0, 0))
    assert not assertion.kept(LagSnapshot(time=5.0, failed={"g": KcliError("coordinator is down")}))
    assert not assertion.kept(at(10.0, 0))
    assert assertion.kept(at(20.0, 0))


def test_an_assertion_about_nothing_does_not_hold() -> None:
    assert broken(LagAssertion(10, None), LagSnapshot(time=1.0)) == [
        "no group reads anything there, so the assertion fails"
    ]
    assert broken(LagAssertion(10, None, groups=["g", "other"]), at(0.0, 0)) == [
        "other is not among the groups that were read, so its lag is unknown"
    ]
    bare = LagSnapshot(time=1.0, groups=History().add(1.0, snapshot_of({}, 0)))
    assert broken(LagAssertion(10, None, groups=["g"]), bare) == [
        "g has committed nothing and owns nothing there, so its lag is unknown"
    ]


def test_E68_a_commit_beyond_the_end_is_no_small_lag() -> None:
    seen = at(0.0, -20)
    assert (seen.groups[0].total.lag, seen.groups[0].eta) == (None, None)
    (sentence,) = broken(LagAssertion(10, None), seen)
    assert sentence.startswith("g has committed 20 beyond the end: the topic was truncated or recreated")
    shot = snapshot_of({0: 1020}, 1000)
    shot.groups[0].samples[0].stable_end = True  # the last stable offset may be before what was read
    assert LagAssertion(10, None).kept(LagSnapshot(time=0.0, groups=History().add(0.0, shot)))


def test_a_broken_limit_is_named_with_its_group_and_its_worst_partition() -> None:
    shot = snapshot_of({0: 995, 1: 900, 2: 999}, 1000)
    history = History()
    for time in (0.0, 300.0):
        seen = LagSnapshot(time=time, groups=history.add(time, shot))
    (lag,) = LagAssertion(10, None).broken(seen)
    assert (lag.group, lag.topic, lag.partition, lag.limit) == ("g", "t", 1, "max-lag 10")
    (age,) = LagAssertion(None, 60.0).broken(seen)
    assert (age.group, age.topic, age.limit) == ("g", "t", "max-time 60s")
    (past,) = LagAssertion(10, None).broken(at(0.0, -20))
    assert (past.group, past.topic, past.partition) == ("g", "t", 0)
    (nobody,) = LagAssertion(10, None, groups=["other"]).broken(seen)[:1]
    assert (nobody.group, nobody.partition, nobody.limit) == ("other", -1, "max-lag 10")


def test_a_recorded_look_is_the_look() -> None:
    shot = snapshot_of({0: 5, 1: None}, 100, members=(MEMBER,), epoch=4, start=3)
    shot.failed["other"] = KcliError("broker 2 is down")
    shot.brokers[2] = KcliError("broker 2 is down")
    text = line(12.3456, shot)
    assert text.endswith("}\n")
    assert text.count("\n") == 1
    time, back = read(text)
    assert time == 12.346
    assert back.groups == shot.groups
    assert str(back.failed["other"]) == "broker 2 is down"
    assert list(back.brokers) == [2]


def test_what_a_share_groups_coordinator_counted_is_recorded() -> None:
    shot = snapshot_of({0: 5}, 100)
    shot.groups[0].samples[0].counted = 3
    text = line(1.0, shot)
    assert read(text)[1].groups == shot.groups
    older = read(text.replace(',"counted":3', ""))[1]  # a recording of before
    assert older.groups[0].samples[0].counted is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not a line of a lag recording"),
        ("[1]", "not a line of a lag recording"),
        ('{"kcli":"kcli.lag.samples/9"}', "version kcli.lag.samples/9"),
        ('{"kcli":"kcli.lag.samples/1","time":1}', "not a line of a lag recording"),
    ],
)
def test_a_line_that_is_none_is_refused(text: str, why: str) -> None:
    with pytest.raises(DecodeError, match=why):
        read(text)


def test_the_metrics_are_those_of_kafka_exporter_and_our_own() -> None:
    history = History()
    page = ""
    for n in range(8):
        groups = history.add(5.0 * n, snapshot_of({0: 100 * n, 1: None}, 150 * n + 10))
        page = render(LagSnapshot(time=5.0 * n, took=0.25, groups=groups))
    assert 'kafka_consumergroup_lag{consumergroup="g",topic="t",partition="0"} 360' in page
    assert 'kafka_consumergroup_lag{consumergroup="g",topic="t",partition="1"}' not in page  # not known is not 0
    assert 'kafka_consumergroup_current_offset{consumergroup="g",topic="t",partition="0"} 700' in page
    assert 'kafka_topic_partition_current_offset{topic="t",partition="0"} 1060' in page
    assert 'kafka_consumergroup_members{consumergroup="g"} 1' in page
    assert 'kcli_group_in_rate{consumergroup="g"} 60' in page
    assert 'kcli_group_status{consumergroup="g",status="GROWING"} 1' in page
    assert 'kcli_group_status{consumergroup="g",status="OK"} 0' in page
    assert "kcli_lag_look_seconds 0.25" in page
    names = [text.split("{")[0].split(" ")[0] for text in page.splitlines() if not text.startswith("#")]
    heads = [text.split(" ")[2] for text in page.splitlines() if text.startswith("# TYPE")]
    assert list(dict.fromkeys(names)) == heads  # every metric stands together, under its head


def test_a_look_at_which_nobody_told_anything_is_none() -> None:
    gone, missing = ConnectError("nobody there"), GroupMissing("no such group")
    groups = History().add(0.0, snapshot_of({0: 5}, 10))
    assert nothing(LagSnapshot(brokers={1: gone}))
    assert nothing(LagSnapshot(failed={"g": gone, "h": missing}))
    assert not nothing(LagSnapshot())
    assert not nothing(LagSnapshot(failed={"h": missing}))
    assert not nothing(LagSnapshot(groups=groups, brokers={2: gone}))
    assert "kcli_lag_brokers_unread 1\n" in render(LagSnapshot(groups=groups, brokers={2: gone}))


def test_labels_are_escaped() -> None:
    name = 'a"b\\c\nd'
    described = Described(group=name, state="Stable", members=[Member(assignment=[TopicPartition("t", 0)])])
    sample = Sample(group=name, topic="t", committed=1, end=2, start=0, owned=True)
    shot = Snapshot(groups=[GroupSnapshot(described=described, samples=[sample])])
    page = render(LagSnapshot(groups=History().add(1.0, shot)))
    assert 'kafka_consumergroup_lag{consumergroup="a\\"b\\\\c\\nd",topic="t",partition="0"} 1' in page
