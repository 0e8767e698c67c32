"""`kcli lag` as its user sees it."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from kcli import codes
from kcli.cli.commands.lag import lag
from kcli.proto.messages.list_offsets import ListOffsetsPartitionResponse
from tests.admin.tiny import TinyBroker
from tests.cli.admin_fixture import Line, line

__all__ = ["line"]


def test_lag_of_all_groups_is_a_row_per_group_the_worst_first(line: Line) -> None:
    ran = line("lag")
    assert ran.code == 0
    assert ran.out == (
        "GROUP    TYPE     STATE   TOPICS  PARTITIONS  LAG  STATUS              MEMBERS  HOSTS     NOTE\n"
        "billing  classic  Stable       2           4  145  LOSING DATA 1 of 4        1  10.0.0.1  "
        "45 lost by retention; 7 offsets not committed\n"
        "idle     classic  Empty        1           1    0  OK                        0  –         –\n"
    )


def test_E69_a_partition_without_a_commit_shows_a_dash_and_a_lost_one_its_loss(line: Line) -> None:
    assert line("lag", "billing", "--by", "partition").out == (
        "GROUP    TOPIC   PARTITION  COMMITTED  END  LAG  STATUS       MEMBER ID  HOST      NOTE\n"
        "billing  mail            0          –    7    –  NO COMMIT    app-id     10.0.0.1  7 offsets not committed\n"
        "billing  orders          0         90  100   10  BEHIND       app-id     10.0.0.1  –\n"
        "billing  orders          1          5  100   95  LOSING DATA  app-id     10.0.0.1  45 lost by retention\n"
        "billing  orders          2         60  100   40  ORPHANED     –          –         –\n"
    )


def test_named_groups_are_shown_by_topic(line: Line) -> None:
    rows = line("lag", "billing", "-J").json
    assert rows["schema"] == "kcli.lag/1"
    assert rows["ok"] is True
    assert [(row["topic"], row["lag"], row["no_commit"]) for row in rows["topics"]] == [
        ("mail", None, 1),
        ("orders", 145, 0),
    ]
    assert rows["groups"][0]["lag"] == 145


def test_of_a_topic_only_the_groups_are_told_that_read_it(line: Line) -> None:
    of_orders = line("lag", "-t", "orders", "-J")
    assert [row["group"] for row in of_orders.json["groups"]] == ["billing"]
    assert of_orders.err == ""
    nobody = line("lag", "-t", "odrers")
    assert (nobody.code, nobody.out) == (0, "")
    assert nobody.err == "kcli: odrers: no group has committed offsets or owns a partition of it\n"
    assert line("lag", "idle", "-t", "orders").err == (
        "kcli: orders: no such group has committed offsets or owns a partition of it\n"
    )
    assert line("lag", "-t", "odrers", "-q").err == ""


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("idle", "--max-lag", "0"), 0, ""),
        (("billing", "--max-lag", "144"), 3, "kcli: billing is 145 offsets behind, over 144\n"),
        (
            ("billing", "--max-lag", "145"),
            3,
            "kcli: billing has not committed 7 offsets of 1 partition, over 145\n",
        ),
        (("billing", "--max-lag", "152"), 0, ""),
        (("billing", "-t", "orders", "--max-lag", "145"), 0, ""),
        (
            ("billing", "-t", "odrers", "--max-lag", "145"),
            3,
            "kcli: billing has committed nothing and owns nothing there, so its lag is unknown\n",
        ),
        (
            ("idle", "--state", "Stable", "--max-lag", "0"),
            3,
            "kcli: idle is not among the groups that were read, so its lag is unknown\n",
        ),
        (
            ("--state", "Dead", "--max-lag", "0"),
            3,
            "kcli: no group reads anything there, so the assertion fails\n",
        ),
    ],
)
def test_max_lag_is_an_assertion_with_an_exit_code_of_its_own(
    line: Line, words: tuple[str, ...], code: int, sentence: str
) -> None:
    ran = line("lag", *words)
    assert (ran.code, ran.err) == (code, sentence)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 0, ""),
        (("--by", "partition"), 0, ""),
        (("--max-lag", "152"), 0, ""),
        (("--max-lag", "144"), 3, "kcli: billing is 145 offsets behind, over 144\n"),
    ],
)
def test_quiet_lag_prints_no_table_but_where_a_format_asks_for_it(
    line: Line, words: tuple[str, ...], code: int, said: str
) -> None:
    ran = line("lag", "billing", *words, "-q")
    assert (ran.code, ran.out, ran.err) == (code, "", said)
    assert "billing" in line("lag", "billing", *words, "-q", "--format", "csv").out


def test_a_failed_assertion_says_in_json_which_group_and_partition_broke_which_limit(line: Line) -> None:
    ran = line("lag", "billing", "--max-lag", "10", "-J")
    assert (ran.code, ran.json["ok"]) == (3, False)
    said = {
        "about": "billing",
        "error": "AssertionFailed",
        "message": "billing is 145 offsets behind, over 10",
        "limit": "--max-lag 10",
        "topic": "orders",
        "partition": 1,
    }
    assert ran.json["errors"] == [said]
    assert ran.err == "kcli: billing is 145 offsets behind, over 10\n"
    held = line("lag", "billing", "--max-lag", "152", "-J")
    assert (held.code, held.json["ok"], held.json["errors"]) == (0, True, [])
    missing = line("lag", "idle", "--state", "Stable", "--max-lag", "0", "-J")
    assert (missing.code, missing.json["ok"]) == (3, False)
    assert missing.json["errors"][0]["about"] == "idle"


def test_a_mistyped_group_names_the_nearest_and_does_not_stop_the_others(line: Line) -> None:
    ran = line("lag", "biling", "idle", "-J")
    assert ran.code == 1
    assert ran.err == "kcli: biling: this group does not exist; did you mean billing?\n"
    assert [row["group"] for row in ran.json["topics"]] == ["idle"]
    assert ran.json["ok"] is False
    assert ran.json["errors"] == [
        {
            "about": "biling",
            "error": "GroupMissing",
            "message": "biling: this group does not exist; did you mean billing?",
        }
    ]


def test_an_assertion_about_a_group_that_is_not_there_does_not_hold_silently(line: Line) -> None:
    assert line("lag", "nobody", "--max-lag", "5").code == 1


def test_E68_a_group_beyond_the_end_is_not_caught_up(line: Line) -> None:
    line.tiny.group("ahead", state="Empty", mail=[9])
    ran = line("lag", "ahead", "--max-lag", "0")
    assert ran.code == 3
    assert ran.err.startswith("kcli: ahead has committed 2 beyond the end: the topic was truncated or recreated")
    assert line("lag", "ahead", "--max-lag", "0", "--isolation", "read_committed").code == 0


def test_C17_a_dead_broker_leaves_the_other_rows_and_exit_code_1(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lag, "take", partial(lag.take, patience=0.1))
    line.tiny.down = {line.tiny.coordinator_id("idle")}
    ran = line("lag", "--format", "ndjson")
    assert ran.code == 1
    assert '"group":"idle"' not in ran.out
    assert "did not list its groups" in ran.err


def test_E71_a_named_share_group_says_why_it_has_no_lag_and_is_left_out_of_all(line: Line) -> None:
    line.tiny.group("shared", type="share")
    ran = line("lag", "shared")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "kcli: shared: this broker does not report the progress of its share groups\n"
    assert line("lag").code == 0


def test_a_group_that_committed_nothing_at_all_is_not_OK(line: Line) -> None:
    line.tiny.group("new", state="Empty")
    (row,) = line("lag", "new", "--by", "group", "-J").json["groups"]
    assert (row["status"], row["lag"], row["note"]) == ("NO COMMIT", None, "nothing committed")


def test_isolation_moves_the_end(line: Line) -> None:
    ran = line("lag", "billing", "--by", "partition", "-t", "orders", "--isolation", "read_committed", "-J")
    assert [row["lag"] for row in ran.json["partitions"]] == [5, 95, 40]


def test_states_choose_groups(line: Line) -> None:
    assert [row["group"] for row in line("lag", "--state", "empty", "-J").json["groups"]] == ["idle"]


def test_a_mistake_is_one_sentence_and_exit_code_2(line: Line) -> None:
    for words in (
        ("lag", "--by", "color"),
        ("lag", "--max-lag", "-1"),
        ("lag", "--nope"),
        ("lag", "--state", "stabel", "--max-lag", "9"),
    ):
        ran = line(*words)
        assert ran.code == 2
        assert ran.err.count("\n") == 1
        assert ran.out == ""


def test_a_sum_without_the_partitions_that_could_not_be_read_is_a_lower_bound(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    offset = TinyBroker._offset

    def broken(self: TinyBroker, request: Any, topic: str, asked: Any) -> ListOffsetsPartitionResponse:
        answer = offset(self, request, topic, asked)
        if (topic, asked.partition_index) == ("orders", 1):
            answer.error_code = codes.UNKNOWN_SERVER_ERROR.number
        return answer

    monkeypatch.setattr(TinyBroker, "_offset", broken)
    ran = line("lag", "billing", "-t", "orders", "--by", "group")
    assert "1 could not be read" in ran.out
    assert "  ≥ 50  " in ran.out
    (group,) = line("lag", "billing", "-t", "orders", "--by", "group", "-J").json["groups"]
    assert (group["lag"], group["unknown"]) == (50, 1)
