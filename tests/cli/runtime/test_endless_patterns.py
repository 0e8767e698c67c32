"""A pattern without end, at the command line: one sentence instead of hours."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Shell

pytestmark = pytest.mark.usefixtures("hasty_patterns")


@pytest.mark.parametrize("words", [("--grep", "(a|aa)+$"), ("--where", "matches(value, '(a|aa)+$')")])
def test_a_pattern_without_end_ends_the_command(kcli: Shell, words: tuple[str, str]) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=b"a" * 100 + b"b\n")
    done = kcli("consume", topic, "-e", *words)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"(a|aa)+$" in done.stderr
    assert b"more than a second on one record" in done.stderr


ENDLESS = "(a|aa)+$"


@pytest.mark.parametrize(
    "words",
    [
        ("topics", "list", "--match", ENDLESS),
        ("export", "--only", "topics", "--match", f"^{ENDLESS}"),
        ("consume", f"^{ENDLESS}", "-e"),
        ("consume", f"^{ENDLESS}", "-e", "-g", "readers"),
        ("count", f"^{ENDLESS}"),
    ],
)
def test_a_pattern_of_names_without_end_ends_the_command(kcli: Shell, words: tuple[str, ...]) -> None:
    name = "a" * 100 + "b"
    kcli("topics", "create", name)
    done = kcli(*words)
    assert done.returncode == 1
    said = done.stderr.decode()
    assert ENDLESS in said
    assert f"more than a second on the name {name}" in said
    kcli.ok("topics", "delete", name, "--execute")
