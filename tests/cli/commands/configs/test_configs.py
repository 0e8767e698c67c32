"""`kcli configs` on the sandbox: what is set, what differs, changes with a plan the broker checked, and their undo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcli.cli.main import main
from kcli.sandbox.thread import SandboxThread

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxThread]:
    with SandboxThread(topics={"orders": 1, "copies": 1}) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        yield made


def rows(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    """What a command printed as JSON rows."""
    assert main([*words, "--format", "json"]) == code
    document = json.loads(capsys.readouterr().out)
    found: list[dict[str, Any]] = next(iter(v for k, v in document.items() if k in ("configs", "resources")))
    return found


def test_what_was_set_is_told_with_what_would_hold_otherwise(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rows(capsys, "configs", "get", "topic", "orders") == []
    changed = rows(
        capsys, "configs", "set", "topic", "orders", "retention.ms=5000", "cleanup.policy=compact", "--execute"
    )
    assert [(r["config"], r["old"], r["new"], r["result"]) for r in changed] == [
        ("retention.ms", "604800000", "5000", "done"),
        ("cleanup.policy", "delete", "compact", "done"),
    ]
    now = rows(capsys, "configs", "get", "topic", "orders")
    assert [(r["config"], r["value"], r["source"], r["inherited"]) for r in now] == [
        ("cleanup.policy", "compact", "topic", "delete"),
        ("retention.ms", "5000", "topic", None),
    ]
    assert rows(capsys, "configs", "list", "topic") == [
        {"kind": "topic", "name": "orders", "configs": 2},
    ]
    assert len(rows(capsys, "configs", "get", "topic", "orders", "--all")) > 20
    one = rows(capsys, "configs", "get", "topic", "orders", "segment.bytes")
    assert [(r["config"], r["source"]) for r in one] == [("segment.bytes", "default")]


def test_what_differs_from_the_defaults_or_from_another_is_exit_code_3(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rows(capsys, "configs", "diff", "topic", "orders") == []
    rows(capsys, "configs", "set", "topic", "orders", "retention.ms=5000", "--execute")
    expected = [{"config": "retention.ms", "value": "5000", "other": "604800000"}]
    assert rows(capsys, "configs", "diff", "topic", "orders", code=3) == [expected[0] | {"other": None}]
    assert rows(capsys, "configs", "diff", "topic", "orders", "copies", code=3) == expected
    assert rows(capsys, "configs", "diff", "topic", "copies", "copies") == []


def test_lists_grow_and_shrink_and_what_is_deleted_is_inherited_again(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    (row,) = rows(capsys, "configs", "append", "topic", "orders", "cleanup.policy=compact", "--execute")
    assert row["new"] == "delete,compact"
    (row,) = rows(capsys, "configs", "subtract", "topic", "orders", "cleanup.policy=delete", "--execute")
    assert row["new"] == "compact"
    (row,) = rows(capsys, "configs", "delete", "topic", "orders", "cleanup.policy", "--execute")
    assert (row["old"], row["new"]) == ("compact", "delete")
    assert rows(capsys, "configs", "get", "topic", "orders") == []


def test_a_pattern_changes_every_topic_that_matches(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["configs", "set", "topic", "[oc]*", "retention.ms=5000"]
    planned = rows(capsys, *line)
    assert [(row["name"], row["result"]) for row in planned] == [("copies", "would change"), ("orders", "would change")]
    assert main([*line, "--execute", "--expect", "3"]) == 2
    assert "2 resources match; nothing was changed" in capsys.readouterr().err
    assert rows(capsys, "configs", "list", "topic") == []
    assert [row["result"] for row in rows(capsys, *line, "--execute", "--expect", "2")] == ["done", "done"]
    undone = rows(capsys, "configs", "unset", "topic", "^o", "retention.ms", "--execute")
    assert [(row["name"], row["result"]) for row in undone] == [("orders", "done")]
    assert [row["name"] for row in rows(capsys, "configs", "list", "topic")] == ["copies"]
    assert main([*line, "--execute", "--literal"]) == 1  # the broker refuses this name
    assert main(["configs", "append", "topic", "x*", "cleanup.policy=compact", "--execute"]) == 1
    assert "x*: no topic matches" in capsys.readouterr().err


def test_an_undo_file_brings_back_what_was_set_and_what_was_not(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows(capsys, "configs", "set", "topic", "orders", "retention.ms=1", "--execute")
    undo = str(tmp_path / "undo.json")
    rows(
        capsys, "configs", "set", "topic", "orders", "retention.ms=2", "segment.ms=3", "--execute", "--undo-file", undo
    )
    rows(capsys, "undo", undo, "--execute")
    now = rows(capsys, "configs", "get", "topic", "orders")
    assert [(r["config"], r["value"]) for r in now] == [("retention.ms", "1")]


def test_a_dry_run_and_a_plan_without_execute_change_nothing(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    (row,) = rows(capsys, "configs", "set", "topic", "orders", "retention.ms=1", "--dry-run")
    assert row["result"] == "would change"
    assert main(["configs", "set", "topic", "orders", "retention.ms=1"]) == 0
    assert "add --execute" in capsys.readouterr().err
    assert rows(capsys, "configs", "get", "topic", "orders") == []


def test_what_the_broker_refuses_is_told_before_anything_is_done(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = rows(
        capsys, "configs", "set", "topic", "orders", "retention.ms=1", "retntion.ms=2", "--execute", code=1
    )
    assert good["result"] == bad["result"] == "failed"
    assert "Unknown topic config name: retntion.ms" in bad["error"]
    assert rows(capsys, "configs", "get", "topic", "orders") == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["get", "topi", "orders"], "did you mean topic?"),
        (["get", "topic"], "KIND NAME"),
        (["get", "broker", "one"], "expected the id of a broker"),
        (["set", "topic", "orders", "retention.ms"], "expected KEY=VALUE"),
        (["set", "topic", "orders"], "KIND NAME KEY"),
        (["list"], "missing KIND:"),
        (["diff", "topic", "a", "b", "c"], "compare one with another"),
    ],
)
def test_bad_input_is_one_sentence(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    assert main(["configs", *words]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


def test_loggers_of_a_broker_are_set_and_put_back(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    undo, name = tmp_path / "undo.json", "kafka.server.KafkaApis"
    line = ["configs", "set", "logger", "1", f"{name}=DEBUG", "--undo-file", str(undo), "--execute"]
    assert [(r["old"], r["new"], r["result"]) for r in rows(capsys, *line)] == [("INFO", "DEBUG", "done")]
    levels = {r["config"]: r["value"] for r in rows(capsys, "configs", "get", "logger", "1", "--all")}
    assert (levels[name], levels["root"]) == ("DEBUG", "INFO")
    assert rows(capsys, "configs", "set", "logger", "1", f"{name}=LOUD", "--execute", code=1)[0]["result"] == "failed"
    assert rows(capsys, "configs", "delete", "logger", "1", "root", "--execute", code=1)[0]["result"] == "failed"
    rows(capsys, "undo", str(undo), "--execute")
    assert {r["value"] for r in rows(capsys, "configs", "get", "logger", "1", "--all")} == {"INFO"}


def test_client_metrics_are_named_by_whoever_subscribes(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["configs", "set", "client-metrics", "slow", "interval.ms=5000", "metrics=org.apache", "--execute"]
    assert {r["result"] for r in rows(capsys, *line)} == {"done"}
    assert rows(capsys, "configs", "list", "client-metrics") == [
        {"kind": "client-metrics", "name": "slow", "configs": 2}
    ]
    line = ["configs", "append", "client-metrics", "slow", "metrics=kafka", "--execute"]
    assert "not a list" in rows(capsys, *line, code=1)[0]["error"]  # as a real Kafka says
    refused = rows(capsys, "configs", "set", "client-metrics", "slow", "interval.ms=7", "--execute", code=1)
    assert "between 100 and 3600000" in refused[0]["error"]
    gone = ["configs", "delete", "client-metrics", "slow", "interval.ms", "metrics", "--execute"]
    assert {r["result"] for r in rows(capsys, *gone)} == {"done"}
    assert rows(capsys, "configs", "list", "client-metrics") == []


def test_configs_of_all_brokers_hold_where_one_has_none(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    rows(capsys, "configs", "set", "broker", "default", "log.cleaner.threads=2", "--execute")
    one = rows(capsys, "configs", "get", "broker", "1", "log.cleaner.threads")
    assert [(r["value"], r["inherited"]) for r in one] == [("2", "1")]


def test_a_read_only_profile_shows_the_plan_and_leaves_no_undo_file(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'[profiles.prod]\nbootstrap = "{sandbox.bootstrap}"\nread_only = true\n')
    monkeypatch.setenv("KCLI_CONFIG", str(config))
    monkeypatch.delenv("KCLI_BOOTSTRAP")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    line = ["configs", "set", "topic", "orders", "retention.ms=5000", "--profile", "prod"]
    assert rows(capsys, *line, "--dry-run")[0]["result"] == "would change"
    assert main([*line, "--execute"]) == 2
    assert "refused by read-only profile prod: this would change the cluster" in capsys.readouterr().err
    assert not (tmp_path / "state").exists()


def test_a_protected_profile_changes_nothing_and_leaves_no_undo_file(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'[profiles.prod]\nbootstrap = "{sandbox.bootstrap}"\nprotected = true\n')
    monkeypatch.setenv("KCLI_CONFIG", str(config))
    monkeypatch.delenv("KCLI_BOOTSTRAP")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for line in (
        ["configs", "set", "topic", "orders", "retention.ms=5000"],
        ["quotas", "alter", "--user", "alice", "producer_byte_rate=1000"],
        ["topics", "alter", "orders", "-p", "9"],
    ):
        line += ["--profile", "prod"]
        assert main([*line, "--dry-run"]) == 0, line
        capsys.readouterr()
        assert main([*line, "--execute"]) == 2, line
        said = capsys.readouterr().err
        assert "refused by protected profile prod; add --confirm prod" in said
        assert "to undo this" not in said
        assert not (tmp_path / "state").exists()
    line = ["configs", "set", "topic", "orders", "retention.ms=5000", "--profile", "prod", "--confirm", "prod"]
    assert main([*line, "--execute"]) == 0


def test_a_protected_profile_lets_apply_add_topics_and_nothing_else(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config, wanted = tmp_path / "config.toml", tmp_path / "wanted.yaml"
    config.write_text(f'[profiles.prod]\nbootstrap = "{sandbox.bootstrap}"\nprotected = true\n')
    monkeypatch.setenv("KCLI_CONFIG", str(config))
    monkeypatch.delenv("KCLI_BOOTSTRAP")
    line = ["apply", str(wanted), "--profile", "prod", "--execute", "--no-undo"]
    wanted.write_text("topics: {fresh: {partitions: 2}, orders: {configs: {retention.ms: 5000}}}\n")
    assert main(line) == 2
    assert "refused by protected profile prod" in capsys.readouterr().err
    assert main(["topics", "describe", "fresh", "--profile", "prod"]) == 1, "nothing half done"
    wanted.write_text("topics: {fresh: {partitions: 2}}\n")
    assert main(line) == 0


def test_what_a_broker_inherits_from_all_brokers_is_not_its_own(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows(capsys, "configs", "set", "broker", "default", "log.cleaner.threads=2", "--execute")
    assert rows(capsys, "configs", "get", "broker", "1") == []
    assert rows(capsys, "configs", "diff", "broker", "1") == []
    (row,) = rows(capsys, "configs", "delete", "broker", "1", "log.cleaner.threads", "--dry-run")
    assert (row["old"], row["new"]) == ("2", "2")
    undo = tmp_path / "undo.json"
    line = ("configs", "set", "broker", "1", "log.cleaner.threads=3", "--execute", "--undo-file", str(undo))
    assert rows(capsys, *line)[0]["result"] == "done"
    assert [row["value"] for row in json.loads(undo.read_text())["configs"]] == [None]
    (row,) = rows(capsys, "configs", "delete", "broker", "1", "log.cleaner.threads", "--dry-run")
    assert (row["old"], row["new"]) == ("3", "2")
    rows(capsys, "undo", str(undo), "--execute", "--no-undo")
    (row,) = rows(capsys, "configs", "get", "broker", "1", "log.cleaner.threads")
    assert (row["value"], row["source"]) == ("2", "all brokers")


@pytest.mark.parametrize("value", ["5", '["x"]', "{}"])
def test_an_undo_file_with_a_value_that_is_no_text_is_refused(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path, value: str
) -> None:
    undo = tmp_path / "undo.json"
    row = f'{{"kind": "topic", "name": "orders", "config": "retention.ms", "value": {value}}}'
    undo.write_text(f'{{"schema": "kcli.configs.undo/1", "configs": [{row}]}}')
    assert main(["undo", str(undo), "--dry-run"]) == 2
    assert "configs[0].value: expected a text" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["broker", "topic", "client-metrics"])
def test_an_empty_name_is_not_all_brokers(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    assert main(["configs", "set", kind, "", "log.cleaner.threads=2", "--execute", "--no-undo"]) == 2
    assert f"'' names no {kind}" in capsys.readouterr().err
    assert [row["config"] for row in rows(capsys, "configs", "get", "broker", "default")] == ["min.insync.replicas"]


def test_what_is_so_already_is_not_changed_and_not_counted(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(verb: str, *words: str) -> tuple[list[str], str]:
        assert main(["configs", verb, "topic", "orders", *words, "--execute", "--no-undo", "--format", "json"]) == 0
        printed = capsys.readouterr()
        return [row["result"] for row in json.loads(printed.out)["configs"]], printed.err

    nothing = "kcli: nothing to change\n"
    assert told("set", "retention.ms=604800000") == (["done"], "kcli: configs: 1 changed\n"), "it was only inherited"
    assert told("set", "retention.ms=604800000") == (["unchanged"], nothing)
    pairs = ("retention.ms=604800000", "cleanup.policy=compact")
    assert told("set", *pairs) == (["unchanged", "done"], "kcli: configs: 1 changed\n")
    assert told("append", "cleanup.policy=compact") == (["unchanged"], nothing)
    assert told("subtract", "cleanup.policy=delete") == (["unchanged"], nothing)
    assert told("delete", "segment.ms") == (["unchanged"], nothing)
    assert told("delete", "segment.ms", "retention.ms") == (["unchanged", "done"], "kcli: configs: 1 changed\n")


def test_what_can_be_restored_is_although_a_topic_is_gone(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    undo = tmp_path / "undo.json"
    line = ("configs", "set", "topic", "orders", "retention.ms=5", "--execute", "--undo-file", str(undo))
    rows(capsys, *line)
    document = json.loads(undo.read_text())
    document["configs"].insert(0, {**document["configs"][0], "name": "gone", "value": "5"})
    undo.write_text(json.dumps(document))
    told = rows(capsys, "undo", str(undo), "--execute", "--no-undo", code=1)
    assert [(row["name"], row["result"]) for row in told] == [("gone", "failed"), ("orders", "done")]
    assert rows(capsys, "configs", "get", "topic", "orders") == []


def test_a_config_is_set_once_in_a_line(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["configs", "set", "topic", "orders", "retention.ms=5", "retention.ms=6", "--dry-run"]) == 2
    assert "retention.ms: given twice" in capsys.readouterr().err


def test_a_secret_that_no_broker_has_yet_is_not_shown(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ("configs", "set", "broker", "default", "ssl.keystore.password=hush", "--dry-run")
    (row,) = rows(capsys, *line, code=1)
    assert row["new"] == "***"


def test_a_topic_called_default_is_not_all_brokers(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["topics", "create", "default"]) == 0
    capsys.readouterr()
    undo = tmp_path / "undo.json"
    line = ("configs", "set", "topic", "default", "retention.ms=5", "--execute", "--undo-file", str(undo))
    (row,) = rows(capsys, *line)
    assert (row["kind"], row["name"], row["result"]) == ("topic", "default", "done")
    (row,) = rows(capsys, "undo", str(undo), "--execute", "--no-undo")
    assert (row["kind"], row["name"], row["result"]) == ("topic", "default", "done")
    assert rows(capsys, "configs", "get", "topic", "default") == []


def test_a_line_of_kafka_configs_is_read(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    about = ("--entity-type", "topics", "--entity-name", "orders")
    alter = ("configs", "--alter", *about, "--add-config", "retention.ms=7,cleanup.policy=[compact,delete]")
    told = rows(capsys, *alter, "--execute")
    assert [(row["config"], row["new"]) for row in told] == [
        ("retention.ms", "7"),
        ("cleanup.policy", "compact,delete"),
    ]
    gone = rows(capsys, "configs", "unset", *about, "--delete-config", "retention.ms,cleanup.policy", "--execute")
    assert {row["result"] for row in gone} == {"done"}
    assert rows(capsys, "configs", "--describe", *about) == []
    assert main(["configs", "set", *about, "--add-config", "retention.ms"]) == 2
    assert capsys.readouterr().err.startswith("kcli: --add-config retention.ms: expected KEY=VALUE,…")
