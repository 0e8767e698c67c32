"""The quick parser agrees with Typer wherever it answers, and leaves to Typer everything it is not sure of."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcli.cli import typed
from kcli.cli.options import HOT
from kcli.cli.quick import parse

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
UNSURE = [
    "consume --help",
    "consume -h",
    "consume t -c",
    "consume t -c x",
    "consume t -c -1",
    "consume t -c 1.5",
    "consume t --bogus",
    "consume t -y",
    "consume t -ey",
    "consume t --exit=1",
    "consume t --isolation none",
    "consume t --max 5",
    "produce t -p -2",
    "produce t --acks 2",
]


def through_typer(words: list[str]) -> dict[str, Any] | int:
    """The values that the Typer command of the table gives, or the exit code of its refusal."""
    caught: list[dict[str, Any]] = []
    command = typed.command_of(HOT[words[0]])
    original = typed.run
    typed.run = lambda _, values: caught.append(values) or 0  # type: ignore[assignment,func-returns-value]
    try:
        command.main(args=words[1:], prog_name="kcli", standalone_mode=False)
    except typed.Complaint:
        return 2
    finally:
        typed.run = original
    return caught[0] if caught else 0


@pytest.mark.parametrize("line", SURE)
def test_what_the_quick_parser_reads_typer_reads_alike(line: str) -> None:
    words = line.split()
    quick = parse(HOT[words[0]], words[1:])
    assert quick is not None
    assert quick == through_typer(words)


@pytest.mark.parametrize("line", UNSURE)
def test_doubtful_lines_go_to_typer(line: str) -> None:
    words = line.split()
    assert parse(HOT[words[0]], words[1:]) is None
    assert isinstance(through_typer(words), int)


FLAGS = sorted({flag for option in HOT["consume"].options for flag in option.flags})
WORD = st.sampled_from([*FLAGS, "-", "--", "-eq", "-c3", "5", "-1", "t", "", "read_committed", "--exit=1", "--count=4"])


@settings(max_examples=150, deadline=None)
@given(st.lists(WORD, max_size=5))
def test_any_line_the_quick_parser_accepts_typer_accepts_alike(words: list[str]) -> None:
    quick = parse(HOT["consume"], list(words))
    if quick is not None:
        assert quick == through_typer(["consume", *words])


@pytest.mark.parametrize("name", HOT)
def test_every_option_of_the_table_is_in_the_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed.dispatch([name, "--help"]) == 0
    out = capsys.readouterr().out
    for option in HOT[name].options:
        assert all(flag in out for flag in option.flags)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("consume t --bogus", "No such option: --bogus"),
        ("consume t -c x", "integer"),
        ("produce t --acks 2", "'2' is not one of"),
        ("nosuch", "No such command 'nosuch'"),
        ("consume t -c", "requires an argument"),
    ],
)
def test_a_usage_error_is_one_sentence_and_exit_2(line: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed.dispatch(line.split()) == 2
    got = capsys.readouterr()
    assert got.out == ""
    assert got.err.count("\n") == 1
    assert says in got.err
