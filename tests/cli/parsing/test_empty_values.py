"""An empty value is a shell's unset variable: no option that names something takes it for no value."""

from __future__ import annotations

import pytest

from kcli.cli.main import main
from kcli.cli.parsing import registry
from kcli.cli.parsing.command import words_of_names
from kcli.errors import UsageError

MAY_BE_EMPTY = {
    ("produce", "--value"), ("produce", "--tombstone"), ("produce", "--key"),
    *((command, "--key") for command in ("consume", "tail", "count", "copy", "redrive")),
}  # fmt: skip
"""Texts of records."""


def test_every_option_with_a_value_refuses_an_empty_one() -> None:
    answers: dict[tuple[str, str], str] = {}
    for name, command in registry.every():
        for option in command.options:
            if option.kind != "text" or command.own_words:
                continue
            flag = next((known for known in option.flags if known.startswith("--")), option.flags[0])
            answer = "taken"
            try:
                words_of_names(command.options, {option.name: [""] if option.multiple else ""})
            except UsageError as problem:
                answer = str(problem).replace(flag, "OPTION", 2)
            answers[name, flag] = answer
    assert {place for place, answer in answers.items() if answer == "taken"} == MAY_BE_EMPTY
    others = {answer for place, answer in answers.items() if place not in MAY_BE_EMPTY}
    assert all(answer.startswith("OPTION is empty; write OPTION ") for answer in others), others


def test_an_empty_delimiter_names_the_template_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["consume", "t", "-D", ""]) == 2
    assert capsys.readouterr().err == (
        "kcli: -D is empty; write -D DELIM, or -f %s for values with nothing between them\n"
    )


@pytest.mark.parametrize(
    "line", ["consume t -g", "copy a b -g", "topics list -F", "consume t --profile", "groups reset g --to-earliest -t"]
)
def test_an_unset_variable_is_one_sentence(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*line.split(), ""]) == 2
    assert " is empty; write " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "names"),
    [("consume", "TOPIC"), ("topics list", "TOPIC"), ("produce", "TOPIC"), ("lag", "GROUP"), ("copy a", "DST")],
)
def test_an_unset_variable_is_no_name(line: str, names: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*line.split(), "", "-b", "127.0.0.1:1"]) == 2
    assert capsys.readouterr().err == f"kcli: {names} must not be empty\n"
