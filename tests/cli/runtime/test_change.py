"""Commands that show a plan follow the same rules: the question by their declaration, a dry run without a terminal."""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path

import pytest

from kcli.cli.main import main
from kcli.cli.parsing.command import options_of
from kcli.cli.parsing.groups import PlanOptions, UndoOptions
from kcli.cli.parsing.option import Options
from kcli.cli.parsing.registry import every
from kcli.sandbox.sandbox import Sandbox
from kcli.sandbox.thread import SandboxThread

YES_NO, NUMBER, NAME = (
    "Apply the plan? [y/N] ",
    " does the plan change? Type the number to apply it: ",
    " to apply the plan: ",
)
LINES = [
    "acls add --allow User:bob --operation read --topic orders",
    "acls remove --principal User:ann",
    "undo {acls}",
    "apply {file}",
    "cluster features downgrade transaction.version=1",
    "cluster features set transaction.version=1",
    "cluster features upgrade share.version",
    "cluster unregister 1 --force",
    "cluster voters add 2@127.0.0.1:9093",
    "cluster voters remove 3",
    "configs append topic orders cleanup.policy=compact",
    "configs subtract topic small cleanup.policy=delete",
    "undo {configs}",
    "configs set topic orders retention.ms=5",
    "configs set topic 'ord*' retention.ms=5",
    "configs unset topic orders segment.ms",
    "configs unset topic 'ord*' segment.ms",
    "groups clone billing other",
    "groups delete billing",
    "groups delete 'bill*'",
    "groups delete-offsets billing -t orders",
    "groups delete-offsets 'bill*' -t orders",
    "groups reset billing --all-topics --to-latest",
    "groups reset 'bill*' --all-topics --to-latest",
    "leaders elect small",
    "quotas alter --user ann producer_byte_rate=1000",
    "undo {quotas}",
    "reassign cancel moving",
    "reassign disks small --balance",
    "reassign execute orders --replication-factor 3 --additional",
    "reassign throttle 1MB",
    "rollback billing -t orders --time-field ts --start -1h",
    "streams reset billing --all-topics --to-latest",
    "tokens expire {token}",
    "topics alter orders --config retention.ms=5",
    "topics alter 'ord*' --config retention.ms=5",
    "topics delete orders",
    "topics delete 'ord*' small",
    "topics trim orders --before end",
    "topics trim 'ord*' --before end",
    "txn abort orders:1 --start-offset 0",
    "txn fence live",
    "users delete ann",
    "users set ann --password-file {password}",
]
ELSEWHERE = {
    "topics create": "applies its plan at once: tests/cli/commands/topics/test_topics.py",
    "tokens renew": "applies its plan at once: tests/cli/commands/tokens/test_tokens.py",
    "groups dlq": "needs share.version 2: tests/kafka/cli/test_share_dead_letters.py",
    "groups remove-members": "needs members: tests/cli/commands/groups/test_remove_members.py",
    "redrive": "never asks: tests/cli/commands/redrive",
    "pipeline checkpoint": "needs a checkpoint of Spark: tests/pipeline/jobs/test_checkpoint_reset.py",
    "pipeline finalize": "needs files of Spark: tests/pipeline",
    "pipeline clean": "needs a table: tests/pipeline",
}


def plans() -> dict[str, type[Options]]:
    """The options of each command that shows a plan."""
    found: dict[str, type[Options]] = {}
    for name, command in every():
        module, _, function = command.run.partition(":")
        options = options_of(getattr(import_module(module), function))
        if issubclass(options, PlanOptions):
            found[name] = options
    return found


def name_of(line: str) -> str:
    return max((name for name in plans() if line.startswith(f"{name} ")), key=len)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _populate(sandbox: Sandbox) -> None:
    sandbox.topics.create("orders", assignments=[[1, 2], [2, 3]])
    sandbox.topics.create("moving", assignments=[[1, 2]])
    sandbox.topics.create("small", assignments=[[1, 2], [1, 2], [1, 2]])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A sandbox in which each line has something to change, and the files that lines name."""
    folder = tmp_path_factory.mktemp("changes")
    with (
        pytest.MonkeyPatch.context() as patch,
        SandboxThread(
            brokers=4, disks=2, sasl={"admin": "a"}, super_users=["User:admin"], features={"kraft.version": 1}
        ) as sandbox,
    ):
        for name, value in (
            ("XDG_STATE_HOME", str(folder)), ("KCLI_BOOTSTRAP", sandbox.bootstrap), ("KCLI_SASL_USERNAME", "admin"),
            ("KCLI_SASL_PASSWORD", "a"), ("KCLI_SASL_MECHANISM", "PLAIN"),
            ("KCLI_SECURITY_PROTOCOL", "SASL_PLAINTEXT"),
        ):  # fmt: skip
            patch.setenv(name, value)
        sandbox.call(_populate)
        made = {name: str(folder / name) for name in ("file", "acls", "configs", "quotas", "password")}
        Path(made["file"]).write_text("topics: {orders: {configs: {retention.ms: 7}}}")
        Path(made["password"]).write_text("secret\n")
        Path(made["password"]).chmod(0o600)
        for line in (
            "produce orders -p 0 --value '{{\"ts\": 1}}' -q",
            "produce moving --value x -q", "produce small -p 0 --value x -q",
            "acls add --allow User:ann --operation read --topic orders --execute --undo-file {acls}",
            "configs set topic orders segment.ms=50000 --execute --undo-file {configs}",
            "quotas alter --user bob producer_byte_rate=5 --execute --undo-file {quotas}",
            "users set ann --password-file {password} --execute",
            "configs set topic small cleanup.policy=compact,delete --execute",
            "cluster voters remove 2 --execute",
            "cluster features downgrade share.version=0 --execute",
            "reassign execute moving --to 3,4 --throttle 1B --execute",
        ):  # fmt: skip
            main(shlex.split(line.format(**made)))
        offsets = folder / "offsets"
        offsets.write_text("orders,0,0\n")
        start = ["groups", "reset", "billing", "--create", "--from-file", str(offsets), "--execute", "--no-undo", "-q"]
        assert main(start) == 0
        sandbox.faults.cluster.move_leader("small", 2, 2)
        sandbox.faults.logs.hang_transaction("orders", 1)
        sandbox.call(lambda one: one.cluster.transactions.init("live", 60_000, None))
        with redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")) as output:
            assert main(["tokens", "create", "-J"]) == 0
            output.seek(0)
            made["token"] = json.loads(output.read())["tokens"][0]["token_id"]
        yield made


def test_every_command_with_a_plan_is_among_the_lines() -> None:
    """Those of a registry need one: tests/registry."""
    here = {name for name in plans() if not name.startswith("registry ")}
    assert here == {name_of(line) for line in LINES} | set(ELSEWHERE)


def _question(line: str) -> str:
    """How a line is confirmed, by what its command declares."""
    if "*" in line:
        return NUMBER
    return YES_NO if issubclass(plans()[name_of(line)], UndoOptions) else NAME


@pytest.mark.parametrize("line", LINES)
def test_a_plan_is_confirmed_as_the_command_declares(
    line: str, files: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(line.format(**files))

    def run(*more: str) -> tuple[int, str, str]:
        code = main([*words, *more])
        out, err = capsys.readouterr()
        return code, out, err

    code, plan, _ = run("--dry-run", "-q")
    assert (code, "would " in plan or plan.startswith("+")) == (0, True), plan
    assert run("-q")[:2] == (0, plan), "without a terminal it is a dry run"
    told = run()[2]
    assert "plan only, nothing changed; add --execute" in told
    assert ("--execute --expect " in told) == ("*" in line and words[1].startswith(("delete", "trim", "remove"))), told
    assert main([*words, "--yes", "--dry-run"]) == main([*words, "-y", "--dry-run"]) == 2
    capsys.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdin", Terminal("no\n"))
        patch.setattr("sys.stderr", asked := Terminal())
        assert main(words) == 1
    said = asked.getvalue().splitlines()
    (question,) = [one for one in said if "apply" in one.lower() and one.endswith("not confirmed: nothing was changed")]
    assert question.removesuffix("kcli: not confirmed: nothing was changed").endswith(_question(line))
    assert capsys.readouterr().out == ""
    assert run("--dry-run", "-q")[:2] == (0, plan), "nothing was changed"


@pytest.mark.parametrize("answers", ["1\n", "3\n", "orders\n", "y\n", "2\n"])
def test_a_pattern_is_confirmed_by_the_number_of_its_matches(
    answers: str, files: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("tmp-1", "tmp-2"):
        main(["topics", "create", name, "-p", "1", "-q"])
    capsys.readouterr()
    monkeypatch.setattr("sys.stdin", Terminal(answers))
    monkeypatch.setattr("sys.stderr", asked := Terminal())
    assert main(["topics", "delete", "tmp-*"]) == (0 if answers == "2\n" else 1)
    assert {"tmp-1", "tmp-2"} <= set(asked.getvalue().split()), "the plan names what was matched"


def delete_words(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """`topics delete` without a terminal, of three topics that there are; the exit code and what stderr got."""
    for number in range(3):
        main(["topics", "create", f"gone-{number}", "-p", "1", "-q", "--if-not-exists"])
    capsys.readouterr()
    code = main(["topics", "delete", *words, "-q"])
    return code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("gone-0 --execute", 0, ""),
        ("gone-0 --execute --yes", 0, ""),
        ("gone-0 --yes", 2, "--yes works only on a terminal, where kcli asks for confirmation; add --execute"),
        (
            "gone-0 --execute --expect 1",
            2,
            "--expect needs a pattern in the command; it is the number of matching names",
        ),
        ("gone-* -y", 2, "add --execute"),
        ("gone-* --execute", 2, "3 topics match; nothing was changed: add --execute --expect 3"),
        ("gone-* --execute --expect 2", 2, "--expect 2: 3 topics match; nothing was changed"),
        ("gone-* --yes --expect 3", 2, "add --execute"),
        ("gone-* --execute --expect 3", 0, ""),
        ("^gone- --execute --yes", 0, ""),
        ("gone-* --expect 3", 0, ""),
    ],
)
def test_what_deletes_a_topic_without_a_terminal(
    words: str, code: int, said: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    done, err = delete_words(capsys, *words.split())
    assert done == code
    assert said in err
    assert bool(err) == bool(said)
    main(["topics", "list", "gone-*", "--format", "plain", "--columns", "topic"])
    left = capsys.readouterr().out.split()
    if code or "--execute" not in words:
        assert left == ["gone-0", "gone-1", "gone-2"], "nothing was changed"
    else:
        assert left == ([] if "gone-" in words and "gone-0" not in words else ["gone-1", "gone-2"])


def test_a_pattern_with_execute_is_asked_about_on_a_terminal(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["topics", "create", "ask-1", "ask-2", "-p", "1", "-q"])
    monkeypatch.setattr("sys.stdin", Terminal("1\n"))
    monkeypatch.setattr("sys.stderr", asked := Terminal())
    assert main(["topics", "delete", "ask-*", "--execute"]) == 1
    assert "How many topics does the plan change?" in asked.getvalue()
    monkeypatch.setattr("sys.stdin", Terminal("ask-1\n"))
    monkeypatch.setattr("sys.stderr", asked := Terminal())
    assert main(["topics", "delete", "ask-1"]) == 0
    assert "Type 'ask-1' to apply the plan" in asked.getvalue()


@pytest.mark.parametrize("line", LINES)
def test_yes_alone_changes_nothing_without_a_terminal(
    line: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(line.format(**files))
    main([*words, "--dry-run", "-q"])
    plan = capsys.readouterr().out
    assert main([*words, "--yes"]) == 2
    assert "add --execute" in capsys.readouterr().err
    main([*words, "--dry-run", "-q"])
    assert capsys.readouterr().out == plan


def test_on_a_terminal_yes_answers(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["topics", "create", "kept", "-p", "1", "-q"])
    for words in (["alter", "kept", "--config", "retention.ms=5"], ["alter", "kept", "-p", "2"], ["delete", "kept"]):
        monkeypatch.setattr("sys.stdin", Terminal(""))
        monkeypatch.setattr("sys.stderr", asked := Terminal())
        assert main(["topics", *words, "--yes"]) == 0, asked.getvalue()
        assert "apply the plan" not in asked.getvalue()


def test_every_command_with_a_dry_run_takes_yes() -> None:
    """Pipelines and `raw` plan nothing that is asked about."""
    for name, command in every():
        if "--dry-run" in command.by_flag and not name.startswith(("pipeline ", "raw")):
            assert {"-y", "--yes", "--execute"} <= command.by_flag.keys(), name


@pytest.mark.parametrize("flag", ["-y", "--yes", "--execute"])
def test_a_command_that_does_not_ask_takes_yes_too(
    flag: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["topics", "create", f"t{flag}", "-p", "1", flag]) == 0
    assert main(["topics", "create", f"u{flag}", "-p", "1", flag, "--dry-run"]) == 2
    assert "--execute and --dry-run cannot be combined" in capsys.readouterr().err
    assert main(["topics", "describe", f"u{flag}"]) == 1
