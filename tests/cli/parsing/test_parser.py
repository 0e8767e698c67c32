"""The fast parser reads a line as Typer does, and leaves to Typer what it does not understand."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcli.cli.main import main
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.parser import parse
from kcli.cli.parsing.registry import every
from kcli.cli.parsing.resolver import command_first, find
from tests.cli.parsing.typers import read_by_typer
from tests.effort import tries

HOT = {name: command for name, command in every() if name in ("produce", "consume", "tail", "count")}
SURE = [
    "consume t",
    "consume -e t",
    "consume -eq -o -10 t",
    "consume -o-10 t u",
    "consume -o s@1 -o e@2 t",
    "consume -c5 t",
    "consume -c 5 --offset=end t",
    "consume -t t -p 0,3-5 -f %s\\n",
    "consume t -- -o",
    "consume -X a=b -Xc=d t",
    "consume t -g group --isolation read_committed --timeout-ms 5",
    "consume --max-messages=7 --from-beginning t -u -Z -J",
    "produce t",
    "produce t - file",
    "produce t -K: -D\\0 -k key -H a=b -H c -Z -p -1 -z zstd:3 --acks all",
    "produce -tfoo --value x --value= --report r --on-error skip --input json --whole --timestamp now",
    "tail t -n 3 --no-follow",
    "tail t -e -o @-1h",
    "count t u --format json -J",
    "count -b h:1 --bootstrap-server=h:2 t",
    "consume",
]
WRONG = [
    ("consume t -c", "-c needs a value: -c N"),
    ("consume t -c x", "--count x: expected a whole number"),
    ("consume t -c -1", "--count -1: must be 0 or more"),
    ("consume t -c 1.5", "--count 1.5: expected a whole number"),
    ("consume t --isolaton x", "unknown option --isolaton; did you mean --isolation?"),
    ("consume t -y", "unknown option -y"),
    ("consume t -ey", "unknown option -y"),
    ("consume t -C", "-C is an option of kcat; in kcli it is `kcli consume TOPIC`"),
    ("consume -G g t", "-G is an option of kcat; in kcli it is `kcli consume TOPIC -g GROUP`"),
    ("produce -l file t", "-l is an option of kcat; in kcli it is `kcli produce TOPIC FILE`"),
    ("consume t --exit=1", "--exit does not take a value"),
    ("consume t --isolation none", "--isolation none: expected read_uncommitted, read_committed"),
    ("consume t --max 5", "unknown option --max"),
    ("produce t -p -2", "--partition -2: must be -1 or more"),
    ("produce t --acks 2", "--acks 2: expected all, -1, 1, 0"),
    ("produce t --value", "--value needs a value: --value TEXT"),
    ("produce t --acks", "--acks needs a value: --acks all|-1|1|0"),
]


@pytest.mark.parametrize("line", SURE)
def test_what_the_quick_parser_reads_typer_reads_alike(line: str) -> None:
    words = line.split()
    quick = parse(HOT[words[0]], words[1:])
    assert quick is not None
    assert quick == read_by_typer(HOT[words[0]], words[1:])


@pytest.mark.parametrize(("line", "says"), WRONG)
def test_what_is_wrong_is_left_to_typer(line: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = line.split()
    assert parse(HOT[words[0]], words[1:]) is None
    assert main(words) == 2
    assert capsys.readouterr().err.startswith(f"kcli: {words[0]}: {says}")


@pytest.mark.parametrize("line", ["consume --help", "consume -h", "consume t --bogus -h", "consume -c --help"])
def test_help_is_left_to_typer(line: str) -> None:
    words = line.split()
    assert parse(HOT[words[0]], words[1:]) is None


DRAWN = [dict(every())[name] for name in ("consume", "produce", "topics list", "groups reset", "configs set", "lag")]
"""Among them: names as options, an option that may have no value, one that may be empty, choices, numbers."""
WORDS = ["-", "--", "-eq", "-c3", "5", "-1", "t", "", "read_committed", "--exit=1", "--count=4", "7d", "--unused="]


@st.composite
def lines(draw: st.DrawFn) -> tuple[Command, list[str]]:
    command = draw(st.sampled_from(DRAWN))
    flags = sorted(command.by_flag)
    return command, draw(st.lists(st.sampled_from(flags) | st.sampled_from(WORDS), max_size=5))


@settings(max_examples=tries(300), deadline=None)
@given(lines())
def test_any_line_is_read_as_typer_reads_it(line: tuple[Command, list[str]]) -> None:
    command, words = line
    quick = parse(command, list(words))
    if quick is not None:  # else Typer reads it alone
        assert quick == read_by_typer(command, words)


@pytest.mark.parametrize("name", HOT)
def test_every_option_of_the_table_is_in_the_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help-all"]) == 0
    out = capsys.readouterr().out
    for option in HOT[name].options:
        for flag in option.flags:
            assert bool(re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", out)) is not option.hidden, flag


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("consume t --bogus", "kcli: consume: unknown option --bogus; see `kcli consume --help`\n"),
        ("consume t -c x", "kcli: consume: --count x: expected a whole number; see `kcli consume --help`\n"),
        ("consume t -C", "kcli: consume: -C is an option of kcat; in kcli it is `kcli consume TOPIC`\n"),
        ("nosuch", "kcli: unknown command 'nosuch'; see `kcli --help`\n"),
        ("consum", "kcli: unknown command 'consum'; did you mean consume or configs?\n"),
        ("-t x consume", "kcli: -t comes after the command: kcli COMMAND -t …; see `kcli --help`\n"),
        ("-b h:1", "kcli: missing command: kcli [OPTIONS] COMMAND; see `kcli --help`\n"),
        ("-b", "kcli: -b needs a value: -b HOST:PORT,…"),
        (
            "-b h:1 -L",
            "kcli: -L is an option of kcat; in kcli it is `kcli topics describe TOPIC`, or `kcli cat -L …`\n",
        ),
        ("-b h:1 nosuch", "kcli: unknown command 'nosuch'; see `kcli --help`\n"),
        ("-C -t x", "kcli: -C is an option of kcat; in kcli it is `kcli consume TOPIC`, or `kcli cat -C …`\n"),
        ("--verison", "kcli: unknown option --verison; did you mean --version?\n"),
        ("--porfile dev topics", "kcli: unknown option --porfile; did you mean --profile?\n"),
        ("--grep x", "kcli: --grep comes after the command: kcli COMMAND --grep …; see `kcli --help`\n"),
        ("topics lst", "kcli: topics: unknown command 'lst'; did you mean list?\n"),
        (
            "topics frobnicate",
            "kcli: topics: unknown command 'frobnicate'; "
            "commands: list, describe, create, delete, alter, trim, stats\n",
        ),
        (
            "brokers list x",
            "kcli: brokers list: unexpected argument 'x': list accepts only options; see `kcli brokers list --help`\n",
        ),
        (
            "groups list --state",
            "kcli: groups list: --state needs a value: --state STATE; see `kcli groups list --help`\n",
        ),
        ("help nosuch", "kcli: no help for 'nosuch'; `kcli help` lists topics, `kcli help commands` commands\n"),
        ("sandbox --prt 1", "kcli: sandbox: unknown option --prt; did you mean --port?"),
    ],
)
def test_a_usage_error_is_one_sentence_and_exit_2(line: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    got = capsys.readouterr()
    assert got.out == ""
    assert got.err.count("\n") == 1
    assert got.err.startswith(says)


@pytest.mark.parametrize(
    ("line", "path", "rest"),
    [
        ("topics -b h:1 list", "topics list", "-b h:1"),
        ("topics -b h:1 ls -J", "topics list", "-b h:1 -J"),
        ("topics --bootstrap-server=h:1 describe orders", "topics describe", "--bootstrap-server=h:1 orders"),
        ("topics -qb h:1 delete list", "topics delete", "-qb h:1 list"),
        ("topics -b list", "topics list", "-b list"),
        ("topics --match list", "topics list", "--match list"),
        ("topics -b h:1", "topics list", "-b h:1"),
        ("topics -b h:1 create describe -p 3", "topics create", "-b h:1 describe -p 3"),
        ("groups --profile p -X a=b reset g", "groups reset", "--profile p -X a=b g"),
        ("configs -b h:1 set topic t k=v", "configs set", "-b h:1 topic t k=v"),
        ("cluster -b h:1 features upgrade x", "cluster features upgrade", "-b h:1 x"),
        ("pipeline -b h:1 copy a b", "pipeline copy", "-b h:1 a b"),
        ("dash -b h:1", "tui", "-b h:1"),
    ],
)
def test_options_may_stand_before_the_verb(line: str, path: str, rest: str) -> None:
    found = find(line.split())
    assert found is not None
    assert (found[2], found[1]) == (path, rest.split())


@pytest.mark.parametrize(
    ("line", "path", "rest"),
    [
        ("-b h:1 topics list", "topics list", "-b h:1"),
        ("-b h:1 topics", "topics list", "-b h:1"),
        ("-qb h:1 --profile=p topics describe t -J", "topics describe", "-qb h:1 --profile=p t -J"),
        ("-b h:1 consume t -e", "consume", "-b h:1 t -e"),
        ("-J lag g", "lag", "-J g"),
        ("-b h:1 cluster features upgrade x", "cluster features upgrade", "-b h:1 x"),
        ("-X a=b -F f dash", "tui", "-X a=b -F f"),
        ("-b h:1 cat -L", "cat", "-b h:1 -L"),
    ],
)
def test_what_all_commands_share_may_stand_before_the_command(line: str, path: str, rest: str) -> None:
    found = find(command_first(line.split()))
    assert found is not None
    assert (found[2], found[1]) == (path, rest.split())


@pytest.mark.parametrize("line", ["-b h:1 topics list --help", "-q --help", "-q help topics list", "-b x topics -h"])
def test_help_is_printed_behind_such_options(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 0
    assert capsys.readouterr().out.lstrip().startswith("Usage: kcli")


@pytest.mark.parametrize("line", ["topics -b h:1 list --help", "dash --help", "dash group g --help"])
def test_the_help_of_such_a_line_is_the_commands(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 0
    assert capsys.readouterr().out.lstrip().startswith(("Usage: kcli topics list", "Usage: kcli tui"))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("topics -b h:1 lst", "kcli: topics: unknown command 'lst'; did you mean list?"),
        ("topics -b h:1 --bogus list", "kcli: topics list: unknown option --bogus"),
        ("configs -b h:1 frob", "kcli: configs: unknown command 'frob'; commands: list, get"),
        ("topics --frobnicate", "kcli: topics list: unknown option --frobnicate"),
    ],
)
def test_a_verb_behind_options_that_is_none_is_named(line: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert capsys.readouterr().err.startswith(says)


@pytest.mark.parametrize(
    ("words", "unused", "names"),
    [
        ("--unused", "30d", []),
        ("--unused -J", "30d", []),
        ("--unused 7d o", "7d", ["o"]),
        ("--unused=7d o", "7d", ["o"]),
        ("o --unused --literal", "30d", ["o"]),
        ("--unused -- o", "30d", ["o"]),
        ("o -- --unused", None, ["o", "--unused"]),
    ],
)
def test_an_option_may_have_a_value_of_its_own(words: str, unused: str | None, names: list[str]) -> None:
    command = dict(every())["topics list"]
    line = parse(command, words.split())
    assert line is not None
    assert line == read_by_typer(command, words.split())
    assert (line.values["unused"], line.words) == (unused, names)
