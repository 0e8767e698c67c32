"""`kcli topics alter`, `trim` and `stats` on the sandbox: plans, what is done, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kcli.cli.main import main
from kcli.errors import KcliError
from kcli.sandbox.thread import SandboxThread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SandboxThread]:
    """100 records in each of two partitions of `orders`; `empty` has none."""
    with SandboxThread(topics={"orders": 2, "empty": 1}) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        lines = tmp_path / "lines"
        lines.write_text("".join(f"{n}\n" for n in range(100)))
        for partition in ("0", "1"):
            assert main(["produce", "orders", "-p", partition, str(lines), "-q"]) == 0
        yield made


def rows(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    """What a command printed as JSON rows."""
    capsys.readouterr()
    assert main([*words, "--format", "json"]) == code
    document = json.loads(capsys.readouterr().out)
    return next(document[name] for name in ("changes", "partitions", "topics") if name in document)


def test_partitions_and_configs_change_together(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("topics", "alter", "orders", "-p", "4", "--config", "retention.ms=5")
    plan = rows(capsys, *words, "--dry-run")
    assert [(r["config"], r["old"], r["new"], r["result"]) for r in plan] == [
        ("partitions", "2", "4", "would change"),
        ("retention.ms", "604800000", "5", "would change"),
    ]
    assert {r["result"] for r in rows(capsys, *words, "--execute")} == {"done"}
    assert {r["result"] for r in rows(capsys, *words, "--execute")} == {"unchanged"}
    (row,) = rows(capsys, "topics", "alter", "orders", "--delete-config", "retention.ms", "--execute")
    assert (row["old"], row["new"], row["result"]) == ("5", None, "done")  # Kafka tells no default of it


def test_fewer_partitions_are_refused_and_then_nothing_else_is_done(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("topics", "alter", "orders", "-p", "1", "--config", "retention.ms=5", "--execute")
    plan = {r["config"]: r["result"] for r in rows(capsys, *words, code=1)}
    assert plan == {"partitions": "failed", "retention.ms": "would change"}
    (row,) = rows(capsys, "topics", "alter", "orders", "--delete-config", "retention.ms", "--dry-run")
    assert row["result"] == "unchanged"


@pytest.mark.parametrize(
    ("where", "starts"),
    [("10", [10, 10]), ("-20", [80, 80]), ("+5", [5, 5]), ("end", [100, 100]), ("5000", [100, 100])],
)
def test_records_before_a_place_are_deleted(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], where: str, starts: list[int]
) -> None:
    words = ("topics", "trim", "orders", f"--before={where}")
    plan = rows(capsys, *words, "--dry-run")
    assert [(r["old"], r["new"], r["offsets"], r["result"]) for r in plan] == [
        (0, new, new, "would trim") for new in starts
    ]
    assert [(r["new"], r["result"]) for r in rows(capsys, *words, "--execute")] == [(new, "trimmed") for new in starts]
    left = rows(capsys, "offsets", "orders")
    assert [r["start"] for r in left] == starts


def test_only_the_named_partitions_and_only_what_is_older_are_deleted(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [r["result"] for r in rows(capsys, "topics", "trim", "orders", "--before", "@-1h", "--dry-run")] == [
        "unchanged", "unchanged",
    ]  # fmt: skip
    (row,) = rows(capsys, "topics", "trim", "orders:1", "--before", "@now", "--execute")
    assert (row["partition"], row["new"]) == (1, 100)


def test_a_plan_without_execute_deletes_nothing(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topics", "trim", "orders", "--before", "end"]) == 0
    assert "add --execute" in capsys.readouterr().err
    assert [r["start"] for r in rows(capsys, "offsets", "orders")] == [0, 0]


def test_figures_of_topics(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    orders, empty = rows(capsys, "topics", "stats", "--sort", "offsets", "--over", "0")
    assert (orders["topic"], orders["offsets"], orders["partitions"]) == ("orders", 200, 2)
    assert orders["size"] > 200
    assert orders["idle"] < 60
    assert orders["last_write"] is not None
    assert (empty["topic"], empty["offsets"], empty["last_write"]) == ("empty", 0, None)
    unused = rows(capsys, "topics", "stats", "--unused", "1d", "--over", "0")
    assert [r["topic"] for r in unused] == ["empty"]


def test_a_size_of_which_a_part_is_not_known_is_not_said(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kcli.admin.topics import stats

    look = stats.log_dirs

    async def partly(cluster: Any) -> Any:
        places, failed = await look(cluster)
        for place in places:
            place.replicas = [one for one in place.replicas if (one.topic, one.partition) != ("orders", 1)]
        return places, failed

    monkeypatch.setattr(stats, "log_dirs", partly)
    empty, orders = rows(capsys, "topics", "stats", "--over", "0")
    assert (empty["size"], orders["size"]) == (0, None)


def test_a_size_of_which_a_part_has_no_leader_is_not_said() -> None:
    from kcli.admin.topics.stats import TopicStatsReader
    from kcli.admin.topics.topics import Partition, Topic

    topic = Topic(topic="t", partitions=[Partition(topic="t", partition=n, leader=1 - 2 * n) for n in range(2)])
    row = TopicStatsReader()._row(topic, {}, {}, {("t", 0, 1): 100}, 1.0)
    assert row.size is None
    assert row.problem.startswith("1 without leader")


def test_a_plan_of_a_topic_says_what_will_be_made(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with SandboxThread(brokers=3) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        line = ("topics", "create", "fresh")
        (plan,), (done,) = rows(capsys, *line, "--dry-run"), rows(capsys, *line)
        assert (plan["partitions"], plan["replicas"]) == (done["partitions"], done["replicas"]) == (1, 3)


def test_what_is_beyond_the_end_is_said(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = rows(capsys, "topics", "trim", "orders:0", "--before", "4711", "--dry-run")
    assert (row["new"], row["note"]) == (100, "clamped: 4711 is past the log's end")
    (row,) = rows(capsys, "topics", "trim", "orders:0", "--before", "100", "--dry-run")
    assert (row["new"], row["note"]) == (100, None)


def test_a_time_that_cannot_be_looked_up_deletes_nothing(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kcli.seeking import last_records

    async def untold(cluster: object, wanted: dict[Any, int]) -> dict[Any, KcliError]:
        return {at: KcliError("the leader does not say") for at in wanted}

    monkeypatch.setattr(last_records, "list_offsets", untold)
    (row,) = rows(capsys, "topics", "trim", "orders:1", "--before", "@-1h", "--execute", code=1)
    assert (row["result"], row["error"]) == ("failed", "the leader does not say")
    assert [r["start"] for r in rows(capsys, "offsets", "orders")] == [0, 0]


def test_configs_that_cannot_be_read_are_not_changed(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from kcli.changes import configs

    async def untold(cluster: object, resources: list[Any]) -> dict[Any, KcliError]:
        return {at: KcliError("the broker does not say") for at in resources}

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(configs, "describe_configs", untold)
    line = ("topics", "alter", "orders", "--config", "retention.ms=5", "--execute")
    (row,) = rows(capsys, *line, code=1)
    assert (row["result"], row["error"]) == ("failed", "the broker does not say")
    assert not (tmp_path / "state").exists(), "an undo file of what nobody knows"


def test_a_default_can_be_set_and_taken_back(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    pinned = ("topics", "alter", "orders", "--config", "retention.ms=604800000", "--execute")
    assert [rows(capsys, *pinned)[0]["result"] for _ in range(2)] == ["done", "unchanged"]
    free = ("topics", "alter", "orders", "--delete-config", "retention.ms", "--execute")
    assert [rows(capsys, *free)[0]["result"] for _ in range(2)] == ["done", "unchanged"]


def test_a_topic_that_is_not_there_stops_the_others_and_that_is_said(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["topics", "alter", "orders", "nosuch", "-p", "4", "--execute"]) == 1
    said = capsys.readouterr().err
    assert "nosuch: this topic does not exist" in said
    assert "nothing was changed" in said
    assert main(["topics", "alter", "orders", "nosuch", "-p", "4", "--dry-run"]) == 1
    assert "nothing was changed" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["alter", "", "-p", "4"], "TOPIC must not be empty"),
        (["describe", "orders", ""], "TOPIC must not be empty"),
        (["trim", "", "--before", "end"], "TOPIC must not be empty"),
        (["create", "new", "3", "1"], "3 looks like a number, not a topic name: kcli topics create new -p 3 -r 1"),
        (["alter", "orders"], "missing change"),
        (["alter", "orders", "--config", "retention.ms"], "expected KEY=VALUE"),
        (["alter", "orders", "--config", "a=1", "--delete-config", "a"], "given twice"),
        (["trim", "orders"], "missing offset: --before N"),
        (["trim", "orders", "--before", "stored"], "expected a single position"),
        (["trim", "orders", "--before", "1:2"], "--before 1:2: expected a single position"),
        (
            ["trim", "orders", "--before", "0..5"],
            "kcli: --before 0..5: expected a single position, such as 4711, -1000, @-7d or end",
        ),
        (["trim", "orders", "--before", "@soon"], "kcli: --before @soon: expected a single position"),
        (["stats", "--unused", "soon"], "expected a duration"),
    ],
)
def test_bad_input_is_one_sentence(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    capsys.readouterr()
    assert main(["topics", *words]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1
