"""Help: headings, pages that fit a screen, topics, and the same as JSON."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import re

import pytest

from kcli.cli import main as entry
from kcli.cli.parsing.help.text import EXAMPLES, arguments, fitted
from kcli.cli.parsing.help.topics import EXPLAINED, TOPICS
from kcli.cli.parsing.registry import SECTIONS, SUBJECTS, declared, every
from tests.each import each

WIDTH = 80
PAGES = {path: command for path, command in every() if not command.own_words}


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a line prints, without the spaces that Rich fills lines with."""
    assert entry.main([*words]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return "\n".join(line.rstrip() for line in out.splitlines()) + "\n"


@functools.cache
def page(path: str, flag: str = "--help") -> str:
    """A page of help, made once for all tests."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert entry.main([*path.split(), flag]) == 0
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def plain(text: str) -> str:
    """A page without frames, and in one line what was broken."""
    return " ".join(re.sub("[│╭╮╰╯─]", " ", text).split())


def test_every_subject_has_one_heading() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(SUBJECTS)


def test_the_most_used_come_first_and_kpaxs_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "--help")
    assert re.findall(r"^╭─ (\S.*?) ─", out, re.MULTILINE) == ["Options", *SECTIONS]
    assert re.findall(r"^│ (consume|meta|coord|rollback) ", out, re.M) == ["consume", "rollback", "meta", "coord"]
    assert "Usage: kcli meta" in printed(capsys, "meta", "--help")


@each("path", PAGES)
def test_a_page_fits_a_terminal(path: str) -> None:
    command = PAGES[path]
    examples = command.description.partition(EXAMPLES)[2]
    short, whole = page(path), page(path, "--help-all")
    assert len(short.splitlines()) <= 50
    for text in (short, whole):
        assert [line for line in text.splitlines() if len(line) > WIDTH] == []
    joined = re.sub(r" \\\n +", " ", whole)
    for line in re.findall(r"^ +(kcli .*)", examples, re.MULTILINE):
        assert re.sub(r" +# .*", "", line).strip() in joined, "a command is the same in a shell"


@each("subject", [name for name in SUBJECTS if isinstance(declared(name), dict)])
def test_so_does_the_page_of_a_group(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
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


@each("path", PAGES)
def test_no_option_is_missing_from_a_page(path: str) -> None:
    """--help explains or names the command's own; --help-all explains each with every spelling."""
    command = PAGES[path]
    short, whole = plain(page(path)), plain(page(path, "--help-all"))
    for option in command.options:
        if not option.hidden:
            assert all(re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", whole) for flag in option.flags), option.name
            assert all(flag in whole for flag in option.also), option.name
            shown = any(re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", short) for flag in option.flags)
            assert shown or option.panel, option.name


def test_usage_shows_the_arguments_as_they_are_declared() -> None:
    for path, command in PAGES.items():
        usage = plain(page(path)).partition(" [OPTIONS]")[2]
        assert usage.startswith(f" {arguments(command)}".rstrip()), path
        assert "[[OPERATION" not in usage


@each("line", ["--help topics", "-h consume", "-b h:1 --help topics", "--help-all topics create"])
def test_help_may_come_first(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = line.removeprefix("-b h:1 ").split()
    assert printed(capsys, *line.split()) == printed(capsys, *words[1:], words[0])


def test_the_first_page_of_consume_has_its_filters(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "consume", "--help")
    assert all(flag in text for flag in ("--grep", "--key", "--header", "--where"))


def test_the_connection_is_folded(capsys: pytest.CaptureFixture[str]) -> None:
    out = plain(printed(capsys, "topics", "list", "--help"))
    assert re.search(r"More under .*, Connection \(-b HOST:PORT, --profile NAME, -X KEY=VALUE\)", out)
    whole = printed(capsys, "topics", "list", "--help-all")
    assert "--bootstrap-servers" in whole
    assert "--bootstrap-servers" not in out


def test_details_are_for_the_whole_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert "within 0.2 s" not in plain(printed(capsys, "consume", "--help"))
    assert "within 0.2 s" in plain(printed(capsys, "consume", "--help-all"))


def test_a_group_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "topics", "--help")
    assert "Examples\n   kcli topics list\n" in out
    assert "\n│ stats " in out


@each("subject", [name for name in SUBJECTS if isinstance(declared(name), dict)])
def test_a_command_of_a_group_has_one_line(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
    listed = printed(capsys, subject, "--help").partition("╭─ Commands")[2].partition("\n╰")[0].splitlines()[1:]
    verbs = declared(subject)
    assert isinstance(verbs, dict)
    assert [line.split("  ")[0].removeprefix("│ ") for line in listed if line[2] != " "] == [*verbs]


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
    assert entry.main(["help", "ofsetz"]) == 2
    assert "offsets" in capsys.readouterr().err


@each(
    ("word", "shown"),
    [
        ("dlq", ["dlq: `kcli redrive TOPIC`", "redrive"]),
        ("purge", ["purge: `kcli topics trim TOPIC --before end`"]),
        ("tombstone", ["--tombstone (produce)", "`kcli produce TOPIC --tombstone KEY`"]),
        ("Retention", ["topics create", "lag "]),
        ("isolation", ["--isolation (consume, tail, ", "Options:"]),
    ],
)
def test_a_word_is_looked_for(word: str, shown: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "help", word)
    assert all(text in out for text in shown)
    assert [line for line in out.splitlines() if len(line) > WIDTH] == []


def test_all_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "help", "commands").splitlines()
    assert [line[2:].partition("  ")[0] for line in lines] == [path for path, _ in every()]


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
