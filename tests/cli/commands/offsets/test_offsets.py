"""`kcli offsets` as its user sees it."""

from __future__ import annotations

import json

from tests.cli.admin_fixture import Line, line
from tests.cli.conftest import Shell

__all__ = ["line"]


def test_start_stable_and_end_of_each_partition(line: Line) -> None:
    rows = line("offsets", "orders", "-J").json["partitions"]
    assert [(r["start"], r["stable"], r["end"], r["span"], r["leader"]) for r in rows] == [
        (0, 95, 100, 100, 1),
        (50, 100, 100, 50, 2),
        (0, 100, 100, 100, 3),
    ]
    assert all(row["committed"] is row["at_offset"] is None for row in rows)


def test_with_a_group_its_commits_and_lag(line: Line) -> None:
    rows = line("offsets", "orders", "mail", "-g", "billing", "-J").json["partitions"]
    assert [(r["topic"], r["committed"], r["lag"]) for r in rows] == [
        ("mail", None, None),
        ("orders", 90, 10),
        ("orders", 5, 95),
        ("orders", 60, 40),
    ]
    ran = line("offsets", "orders", "-g", "biling")
    assert ran.code == 1
    assert "biling: this group does not exist" in ran.err


def test_by_time_too(line: Line) -> None:
    rows = line("offsets", "mail", "--at", "1700000000", "-J").json["partitions"]
    assert rows[0]["at_offset"] == 1_700_000_000_000
    ran = line("offsets", "mail", "--at", "yesterdayish")
    assert (ran.code, ran.out) == (2, "")


def test_the_time_of_the_record_there_is_for_people_in_a_table_and_a_number_in_json(kcli: Shell) -> None:
    topic = kcli.topic()
    given = b'{"value":"a","timestamp":1700000000000}\n'
    kcli.ok("produce", topic, "--input", "json", stdin=given)
    table = kcli.ok("offsets", topic, "--at", "1600000000").decode()
    assert "AT TIMESTAMP" in table
    assert table.endswith("  2023-11-14T22:13:20.000Z\n")
    assert json.loads(kcli.ok("offsets", topic, "--at", "1600000000", "--format", "ndjson"))["at_timestamp"] == (
        1_700_000_000_000
    )


def test_a_mistyped_topic_names_the_nearest(line: Line) -> None:
    ran = line("offsets", "orderz")
    assert (ran.code, ran.err) == (1, "kcli: orderz: this topic does not exist; did you mean orders?\n")


def test_the_table_has_only_the_columns_that_were_asked_for(line: Line) -> None:
    assert line("offsets", "mail").out == (
        "TOPIC  PARTITION  START  STABLE  END  SPAN\n"
        "mail           0      0       7    7     7\n"
    )  # fmt: skip
    assert "COMMITTED" in line("offsets", "orders", "-g", "billing").out
