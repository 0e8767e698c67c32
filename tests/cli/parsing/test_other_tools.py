"""Who comes from another tool is told how the same is said here, and what is told is there."""

from __future__ import annotations

import re

import pytest

from kcli.cli.main import main
from kcli.cli.parsing import other_tools
from kcli.cli.parsing.help.topics import TOPICS
from kcli.cli.parsing.parser import parse
from kcli.cli.parsing.registry import SUBJECTS, declared, every
from kcli.cli.parsing.resolver import find
from tests.each import each

TOLD = [
    *other_tools.ALONE.values(),
    *other_tools.PAIRS.values(),
    *(
        told if " " in told else f"kcli {name} {told}"
        for name, verbs in other_tools.VERBS.items()
        for told in verbs.values()
    ),
]
LINES = sorted({line.strip() for told in TOLD for line in re.findall(r"kcli [^`]+", told)} - {"kcli sandbox"})


@each("line", LINES)
def test_a_line_that_is_told_is_one(line: str) -> None:
    words = line.split()[1:]
    if words[0] == "help":
        assert words[1] in TOPICS
        return
    assert words[0] in SUBJECTS
    found = find(words)
    assert found is not None or len(words) == 1, "a group that has no list"
    if found is not None:
        command, rest, _ = found
        assert parse(command, ["3" if word == "N" else word for word in rest]) is not None


def test_nothing_is_told_of_what_is_there() -> None:
    assert not other_tools.ALONE.keys() & SUBJECTS.keys()
    assert not other_tools.NOUNS.keys() & (SUBJECTS.keys() - {"groups"})
    for name, verbs in other_tools.VERBS.items():
        table = declared(name)
        assert isinstance(table, dict)
        assert not verbs.keys() & table.keys(), name


def test_an_option_that_is_told_is_one() -> None:
    known = {flag for _, command in every() for option in command.options for flag in option.flags}
    for flag, here in other_tools.OPTIONS.items():
        for needed, told in here:
            assert needed in known, flag
            assert told.split()[0].strip("`") in {*known, "kcli", "the", "an"}, flag


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("get consumer-groups", "unknown command 'get'; here it is `kcli groups list`"),
        ("describe topic orders", "unknown command 'describe'; here it is `kcli topics describe`"),
        ("create acl", "unknown command 'create'; here it is `kcli acls add`"),
        ("create", "unknown command 'create'; here it is `kcli topics create TOPIC`"),
        ("node ls", "unknown command 'node'; here it is `kcli brokers list`"),
        ("nodes", "unknown command 'nodes'; here it is `kcli brokers`"),
        ("node frobnicate", "unknown command 'node'; here it is `kcli brokers`"),
        ("security user create", "unknown command 'security'; here it is `kcli users`"),
        ("topic consume orders", "topics: unknown command 'consume'; here it is `kcli consume TOPIC`"),
        ("group seek g", "groups: unknown command 'seek'; here it is `kcli groups reset`"),
        ("acls delete", "acls: unknown command 'delete'; here it is `kcli acls remove`"),
        ("users create bob", "users: unknown command 'create'; here it is `kcli users set`"),
        ("topics show orders", "topics: unknown command 'show'; here it is `kcli topics describe`"),
        ("topics --trim-prefix", "topics: unknown option --trim-prefix; here it is `kcli topics trim TOPIC"),
        ("lag t -o json", "lag: unknown option -o; here it is `--format json`"),
        ("tail t --follow", "tail: unknown option --follow; here it is the default, unless -e ends it; see `k"),
        ("consume t --num 3", "consume: unknown option --num; here it is `-n N`"),
        ("consume t --filter x", "consume: unknown option --filter; here it is `--grep RE`"),
        ("topics list --filter x", "topics list: unknown option --filter; here it is `kcli topics list PATTERN`"),
        ("consume t --rate 5", "consume: unknown option --rate; here it is an option of produce, copy and redrive"),
        ("configs list topic orders", "unexpected argument 'orders': kcli configs get topic orders shows its configs"),
        ("consume t --since 1h", "consume: unknown option --since; here it is `--start TIME`"),
        ("consume t --until 1h", "consume: unknown option --until; here it is `--end TIME`"),
        ("produce t --file f", "produce: unknown option --file; here it is `kcli produce TOPIC FILE`"),
        ("acls add --principal U", "acls add: unknown option --principal; here it is `--allow USER`"),
        ("groups copy a b", "groups: unknown command 'copy'; here it is `kcli groups clone`"),
        ("groups rename a b", "groups: unknown command 'rename'; here it is `kcli groups clone GROUP NEW`"),
        (
            "consume t --follow",
            "consume: unknown option --follow; here it is the default, unless -e ends it; see `k",
        ),
    ],
)
def test_the_words_of_other_tools_are_known(line: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    got = capsys.readouterr()
    assert (got.out, got.err.count("\n")) == ("", 1)
    assert got.err.startswith(f"kcli: {says}")
    assert got.err.endswith(("`\n", "--help`\n", "shows its configs\n"))
