"""`kcli topics` as its user sees it."""

from __future__ import annotations

import io
import sys

import pytest

from tests.cli.admin_fixture import Line, line

__all__ = ["line"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_C20_list_hides_kafkas_own_topics(line: Line) -> None:
    assert line("topics", "list").out == (
        "TOPIC   PARTITIONS  REPLICAS  UNDER REPLICATED  LEADERLESS\n"
        "mail             1         1                 0           0\n"
        "orders           3         1                 0           0\n"
    )
    assert "__consumer_offsets" in line("topics", "list", "--internal").out
    assert "__consumer_offsets" not in line("topics", "ls", "--match", ".*").out
    assert line("topics", "list", "--match", "(").code == 2


def test_describe_shows_partitions_offsets_and_own_configs(line: Line) -> None:
    ran = line("topics", "describe", "orders", "-J")
    assert ran.json["topics"][0]["configs"] == {"cleanup.policy": "compact"}
    assert [(p["partition"], p["leader"], p["start"], p["end"]) for p in ran.json["partitions"]] == [
        (0, 1, 0, 100),
        (1, 2, 50, 100),
        (2, 3, 0, 100),
    ]


def test_a_mistyped_topic_names_the_nearest_and_the_others_are_shown(line: Line) -> None:
    ran = line("topics", "describe", "ordrs", "mail", "--format", "plain")
    assert ran.code == 1
    assert ran.err == "kcli: ordrs: this topic does not exist; did you mean orders?\n"
    assert ran.out.startswith("mail\t0\t")


def test_create_tells_what_was_made(line: Line) -> None:
    ran = line("topics", "create", "new", "-p", "4", "--config", "cleanup.policy=compact", "-J")
    assert ran.code == 0
    (row,) = ran.json["topics"]
    assert (row["result"], row["partitions"], row["configs"]) == ("created", 4, {"cleanup.policy": "compact"})
    assert row["topic_id"] == "AQEBAQEBAQEBAQEBAQEBAQ"
    again = line("topics", "create", "new", "--format", "plain")
    assert again.code == 1
    assert "TOPIC_ALREADY_EXISTS" in again.err
    assert line("topics", "create", "new", "--if-not-exists").code == 0


def test_one_failed_topic_does_not_stop_the_other(line: Line) -> None:
    ran = line("topics", "create", "orders", "other", "-J")
    assert ran.code == 1
    assert [row["result"] for row in ran.json["topics"]] == ["failed", "created"]


def test_create_dry_run_makes_nothing(line: Line) -> None:
    assert "would create" in line("topics", "create", "new", "--dry-run").out
    assert "new" not in line.tiny.topic_partitions


@pytest.mark.parametrize("words", [("-p", "0"), ("--config", "nonsense"), ("-r", "0")])
def test_nonsense_is_refused_before_anybody_is_asked(line: Line, words: tuple[str, ...]) -> None:
    assert line("topics", "create", "new", *words).code == 2
    assert line.tiny.asked == []


def test_delete_wants_execute(line: Line) -> None:
    ran = line("topics", "delete", "orders")
    assert ran.code == 0
    assert ran.out == (
        "TOPIC   RESULT        PARTITIONS  OFFSETS\n"
        "orders  would delete           3      250\n"
    )  # fmt: skip
    assert "orders" in line.tiny.topic_partitions
    done = line("topics", "rm", "orders", "--execute")
    assert done.code == 0
    assert "orders" not in line.tiny.topic_partitions


def test_of_a_topic_that_is_not_known_whole_no_number_of_records_is_said(line: Line) -> None:
    line.tiny.once["ListOffsets"] = [29]  # TOPIC_AUTHORIZATION_FAILED, of one partition
    (row,) = line("topics", "delete", "orders", "--dry-run", "-J").json["topics"]
    assert (row["result"], row["offsets"]) == ("would delete", None)


def test_who_interrupts_what_was_begun_is_told_that_it_may_be_done(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    from kcli.changes import topics

    async def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(topics, "delete_topics", interrupted)
    ran = line("topics", "delete", "orders", "--execute")
    assert ran.code == 130
    assert "interrupted: requests already sent may have taken effect" in ran.err
    monkeypatch.setattr(topics, "describe_topics", interrupted)
    ran = line("topics", "delete", "orders", "--execute")
    assert (ran.code, ran.err) == (130, "")


def test_delete_refuses_kafkas_own_topics(line: Line) -> None:
    ran = line("topics", "delete", "__consumer_offsets", "--execute")
    assert ran.code == 1
    assert "this is an internal topic of Kafka" in ran.err
    assert "__consumer_offsets" in line.tiny.topic_partitions


@pytest.mark.parametrize(("typed", "gone"), [("orders\n", True), ("yes\n", False), ("", False)])
def test_on_a_terminal_the_name_must_be_typed(
    line: Line, monkeypatch: pytest.MonkeyPatch, typed: str, gone: bool
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setattr(sys, "stderr", err := Terminal())
    ran = line("topics", "delete", "orders")
    assert "Type 'orders' to apply the plan: " in err.getvalue()
    assert ("orders" not in line.tiny.topic_partitions) is gone
    assert ran.code == (0 if gone else 1)


@pytest.mark.parametrize("typed", ["orders\n", "no\n"])
def test_who_is_asked_sees_the_plan_and_a_pipe_gets_the_outcome_only(
    line: Line, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setattr(sys, "stderr", err := Terminal())
    ran = line("topics", "delete", "orders", "-J")
    assert "would delete" in err.getvalue()
    done = typed == "orders\n"
    assert (ran.json["ok"], [row["result"] for row in ran.json["topics"]]) == (done, ["deleted"] if done else [])
    assert ("nothing was changed" in err.getvalue()) is not done


def test_a_failure_is_a_json_document_too(line: Line) -> None:
    line.tiny.down = {1, 2}
    line.tiny.brokers[3].cluster.down.add(3)
    monkey = line.tiny.brokers[3]

    async def anyone() -> object:
        return monkey

    line.tiny.anyone = anyone  # type: ignore[method-assign,assignment]
    ran = line("topics", "list", "-J")
    assert ran.code == 5
    assert ran.json["ok"] is False
    assert ran.json["errors"][0]["error"] == "ConnectError"
    assert ran.err == "kcli: broker 3 is down\n"


def test_many_errors_are_not_a_flood(line: Line) -> None:
    ran = line("topics", "describe", *[f"nope{n}" for n in range(30)], "-J")
    assert ran.err.count("\n") == 11
    assert ran.err.endswith("kcli: and 20 more errors; --format json prints all of them\n")
    assert len(ran.json["errors"]) == 30
