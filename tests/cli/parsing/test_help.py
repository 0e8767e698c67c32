"""Help: headings, pages that fit a screen, topics, and the same as JSON."""

from __future__ import annotations

import json
import re

import pytest

from kcli.cli import main as entry
from kcli.cli.parsing.help.examples import fitted
from kcli.cli.parsing.help.page import EXAMPLES, page
from kcli.cli.parsing.help.topics import EXPLAINED, TOPICS
from kcli.cli.parsing.registry import SECTIONS, SUBJECTS, declared, every
from tests.each import each

WIDTH = 80
PAGES = {path: command for path, command in every() if not command.own_words}


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert entry.main([*words]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_every_subject_has_one_heading() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(SUBJECTS)


def test_the_most_used_come_first_and_kpaxs_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "--help")
    titles = re.findall(r"^(\S.*):$", out, re.MULTILINE)
    assert titles[: len(SECTIONS)] == [*SECTIONS]
    assert "\n  consume " in out
    assert re.findall(r"^  (meta|coord|rollback) ", out, re.MULTILINE) == ["rollback", "meta", "coord"]
    assert printed(capsys, "meta", "--help").startswith("Usage: kcli meta")


@each("path", PAGES)
def test_a_page_is_at_most_80_columns_wide(path: str) -> None:
    command = PAGES[path]
    about, _, examples = command.description.partition(EXAMPLES)
    for everything in (False, True):
        text = page(path, command, WIDTH, everything)
        assert [line for line in text.splitlines() if len(line) > WIDTH] == []
        for line in examples.split("\n"):
            assert re.sub(r" +# .*", "", line) in text.replace(" \\\n   ", ""), "a command is the same in a shell"
    assert about.strip()


@each("subject", [name for name in SUBJECTS if isinstance(declared(name), dict)])
def test_so_is_the_page_of_a_group(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, subject, "--help")
    assert [line for line in text.splitlines() if len(line) > WIDTH] == []


@each(
    ("width", "shown"),
    [
        (40, ["  kcli a --long 'x y z' --other v | jq ."]),
        (38, ["  kcli a --long 'x y z' --other v \\", "    | jq ."]),
        (30, ["  kcli a --long 'x y z' \\", "    --other v | jq ."]),
        (20, ["  kcli a --long \\", "    'x y z' \\", "    --other v | jq ."]),
        (12, ["  kcli a \\", "    --long \\", "    'x y z' \\", "    --other \\", "    v | jq ."]),
    ],
)
def test_a_long_command_is_continued_as_in_a_shell(width: int, shown: list[str]) -> None:
    assert list(fitted(["  kcli a --long 'x y z' --other v | jq ."], width)) == shown


@each(
    ("width", "shown"),
    [
        (80, ["  kcli a       # the first", "  kcli long b  # second", "  kcli c"]),
        (23, ["  kcli a  # the first", "  kcli long b  # second", "  kcli c"]),
        (22, ["  kcli a  # the first", "  # second", "  kcli long b", "  kcli c"]),
    ],
)
def test_comments_of_examples_have_a_column_or_a_line(width: int, shown: list[str]) -> None:
    assert list(fitted(["  kcli a  # the first", "  kcli long b     # second", "  kcli c"], width)) == shown


def test_consume_fits_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "consume", "--help").splitlines()
    assert len(lines) <= 48
    assert all(len(line) <= WIDTH for line in lines)


@each("path", PAGES)
def test_no_option_is_missing_from_a_page(path: str) -> None:
    """Folded or not, --help names each; --help-all explains it with every spelling."""
    command = PAGES[path]
    short, whole = page(path, command, WIDTH), page(path, command, WIDTH, True)
    for option in command.options:
        if not option.hidden:
            assert any(re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", short) for flag in option.flags), option.name
            assert all(flag in whole for flag in (*option.flags, *option.also)), option.name
            assert option.help.split()[0] in whole, option.name


def test_the_connection_comes_last_and_folded(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "topics", "list", "--help")
    assert "\nConnection: -b HOST:PORT,…, --profile NAME" in out
    assert out.index("Connection:") > out.index("Options:")
    whole = printed(capsys, "topics", "list", "--help-all")
    assert "--bootstrap-servers" in whole
    assert "--bootstrap-servers" not in out


def test_details_are_for_the_whole_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert "within 0.2 s" not in printed(capsys, "consume", "--help")
    assert "within 0.2 s" in printed(capsys, "consume", "--help-all")


def test_a_group_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "topics", "--help")
    assert "Examples:\n  kcli topics list\n" in out
    assert "\n  stats " in out


@each("subject", [name for name in SUBJECTS if isinstance(declared(name), dict)])
def test_a_command_of_a_group_has_one_line(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
    listed = printed(capsys, subject, "--help").partition("\nCommands:\n")[2].partition("\n\n")[0].splitlines()
    verbs = declared(subject)
    assert isinstance(verbs, dict)
    assert len(listed) == len(verbs)
    assert all(line.startswith("  ") and line[2] != " " and len(line) <= WIDTH for line in listed)


@each("name", TOPICS)
def test_a_topic_is_printed_and_fits(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "help", name)
    assert out.endswith(TOPICS[name][1])
    assert all(len(line) <= WIDTH for line in out.splitlines())
    assert re.search(rf"^  {name} ", printed(capsys, "help"), re.MULTILINE)


def test_a_topic_that_is_a_command_too_names_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "help", "offsets").startswith("`kcli offsets --help` shows the command.\n")


def test_options_that_topics_explain_exist() -> None:
    names = {option.name for command in PAGES.values() for option in command.options}
    assert EXPLAINED.keys() <= names
    assert set(EXPLAINED.values()) <= TOPICS.keys()


def test_help_for_a_command_is_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "help", "topics", "create") == printed(capsys, "topics", "create", "--help")


def test_help_for_an_unknown_name_says_what_is_near(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.main(["help", "ofsets"]) == 2
    assert "offsets" in capsys.readouterr().err


def test_a_commands_declaration_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(printed(capsys, "groups", "reset", "--create", "--help-json"))
    assert document["command"] == "groups reset"
    options = {option["name"]: option for option in document["options"]}
    assert options["shift_by"]["spellings"] == ["--shift-by"]
    assert options["execute"]["type"] == "boolean"
    assert options["bootstrap"]["panel"] == "Connection"
    assert document["examples"]
    names = [command["command"] for command in json.loads(printed(capsys, "topics", "--help-json"))["commands"]]
    assert "topics create" in names


def test_all_declarations_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(printed(capsys, "help", "--json"))
    assert [command["command"] for command in document["commands"]] == [path for path, _ in every()]
    assert {command["section"] for command in document["commands"]} == {*SECTIONS}


def test_typer_prints_the_same_page(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (["topics", "--help"], ["topics", "create", "--help"], ["consume", "--help"], ["lag", "--help"]):
        ours = printed(capsys, *words)
        with monkeypatch.context() as patch:
            patch.setenv("KCLI_PARSER", "typer")
            assert printed(capsys, *words) == ours
