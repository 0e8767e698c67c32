"""Filters on the command line: what consume, tail and count keep, what -n counts, and what a bad one says."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Shell

LINES = [
    f"k{i % 5}:" + json.dumps({"n": i, "user": {"id": i % 10, "from": "ab"[i % 2]}}, separators=(",", ":"))
    for i in range(100)
]


@pytest.fixture(scope="module")
def numbers(bootstrap: str) -> str:
    """A hundred records over three partitions, keyed k0 to k4, half of them with a header; batches of many."""
    shell = Shell(bootstrap)
    topic = shell.topic(3)
    shell.ok("produce", topic, "-K:", "-z", "zstd", stdin="\n".join(LINES[:50]).encode())
    shell.ok("produce", topic, "-K:", "-H", "half=second", stdin="\n".join(LINES[50:]).encode())
    return topic


def found(out: bytes) -> list[int]:
    return sorted(json.loads(line)["n"] for line in out.splitlines())


class Bar:
    """A progress bar that remembers."""

    made: list[Bar]

    def __init__(self, what: str, total: int | None, **_: object) -> None:
        self.total, self.seen = total, [0]
        Bar.made.append(self)

    def at(self, done: int) -> None:
        self.seen.append(done)

    def close(self) -> None:
        self.seen.append(-1)


@pytest.mark.parametrize("words", [("--where", "value.n < 0"), ("--where", "value.n < 30"), ()])
def test_the_progress_of_a_count_is_of_what_was_looked_at(
    kcli: Shell, numbers: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    Bar.made = []
    monkeypatch.setattr("kcli.cli.commands.consume.count.Progress", Bar)
    kcli.ok("count", numbers, *words)
    (bar,) = Bar.made
    assert bar.total == 100
    assert bar.seen[-2:] == [100, -1]
    assert sorted(bar.seen[:-1]) == bar.seen[:-1]


KEPT = [
    (["--where", "value.user.id == 3"], lambda n: n % 10 == 3),
    (["--where", "value.user.from == 'a'", "--where", "value.n < 9"], lambda n: n % 2 == 0 and n < 9),
    (["--grep", '"n":1[0-3],'], lambda n: 10 <= n <= 13),
    (["--grep", '"n":77,'], lambda n: n == 77),
    (["--key", "k2"], lambda n: n % 5 == 2),
    (["--key", "k2", "--key=k3"], lambda n: n % 5 in (2, 3)),
    (["--key-grep", "[01]$", "--grep", "9"], lambda n: n % 5 in (0, 1) and "9" in f"{n}{n % 10}"),
    (["--header", "half"], lambda n: n >= 50),
    (["--header", "half=second", "--where", "value.n % 25 == 0"], lambda n: n in (50, 75)),
    (["--header", "half=first"], lambda n: False),
    (["--where", "headers.half == null and key == 'k0'"], lambda n: n < 50 and n % 5 == 0),
]


@pytest.mark.parametrize(("words", "keep"), KEPT, ids=lambda one: " ".join(one) if isinstance(one, list) else "")
def test_consume_count_and_tail_keep_the_same(kcli: Shell, numbers: str, words: list[str], keep) -> None:
    expected = [n for n in range(100) if keep(n)]
    assert found(kcli.ok("consume", numbers, "-e", *words)) == expected
    assert found(kcli.ok("consume", numbers, "-e", "-u", *words)) == expected
    assert found(kcli.ok("consume", numbers, "-e", "-f", "%s\\n", *words)) == expected
    envelopes = kcli.ok("consume", numbers, "-e", "--envelope", *words).splitlines()
    assert sorted(json.loads(json.loads(line)["value"])["n"] for line in envelopes) == expected
    assert int(kcli.ok("count", numbers, *words)) == len(expected)
    assert found(kcli.ok("tail", numbers, "-n", "1000", "--no-follow", *words)) == expected
    assert len(kcli.ok("tail", numbers, "-n", "2", "--no-follow", *words).splitlines()) == min(len(expected), 2)


def test_n_counts_matches_and_stops_at_the_first(kcli: Shell, numbers: str) -> None:
    assert found(kcli.ok("consume", numbers, "-n", "1", "--where", "value.n == 64")) == [64]
    assert len(found(kcli.ok("consume", numbers, "-c", "3", "--key", "k4"))) == 3


def test_a_group_commits_what_was_filtered_out_too(kcli: Shell, numbers: str) -> None:
    """R4 with filters: the next member goes on behind what was looked at, and -n stops right behind the match."""
    words = ["consume", numbers, "-g", "filtered", "--from-beginning"]
    assert found(kcli.ok(*words, "-e", "--where", "value.n == 13")) == [13]
    assert kcli.ok(*words, "-e", "--where", "value.n >= 0") == b""
    one = ["consume", numbers, "-g", "first", "--from-beginning"]
    got = found(kcli.ok(*one, "-n", "1", "--key", "k1"))
    got += found(kcli.ok(*one, "-e", "--key", "k1"))
    assert sorted(got) == [n for n in range(100) if n % 5 == 1]


def test_fail_if_none_is_an_assertion(kcli: Shell, numbers: str) -> None:
    done = kcli("consume", numbers, "-e", "--grep", "nowhere", "--fail-if-none")
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr == b"kcli: no record matched (--fail-if-none)\n"
    assert kcli("consume", numbers, "-e", "--key", "k1", "--fail-if-none").returncode == 0


@pytest.mark.parametrize("command", ["consume", "tail", "count"])
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--where", "value.x = 3"], "--where value.x = 3: column 9: write == for ="),
        (["--where", "valeu.x"], "--where valeu.x: column 1: unknown name valeu; did you mean value?"),
        (["--grep", "(a"], "--grep (a: column 1: missing ), unterminated subpattern"),
        (["--key-grep", "*"], "--key-grep *: column 1: nothing to repeat"),
    ],
)
def test_a_bad_filter_is_refused_before_anything_is_connected(command: str, words: list[str], sentence: str) -> None:
    done = Shell("localhost:1")(command, "t", *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == f"kcli: {sentence}\n"


@pytest.mark.process
def test_follow_prints_only_what_is_kept(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=b"old yes\nold no\n")
    with kcli.start("consume", topic, "--grep", "yes", "-n", "2") as process:
        kcli.ok("produce", topic, stdin=b"no\nnew yes\nno\n")
        out, _ = process.communicate(timeout=20)
    assert out == b"old yes\nnew yes\n"
