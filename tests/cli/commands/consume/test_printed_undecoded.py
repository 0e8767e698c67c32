"""What could not be decoded counts where it is printed: a batch is decoded whole, and -c prints a part of it. A filter
that a registry did not answer has an unknown result."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Shell
from tests.each import each
from tests.registry.scripted import Asked, Scripted, Step, answer, refusal

INT = '"int"'


@pytest.fixture
def topic(kcli: Shell) -> str:
    """Ten records in one batch: of each three one is read, one has an unknown id, one ends early."""
    name = kcli.topic(1)
    kinds = (b"\0\0\0\0\7\x0e", b"\0\0\0\0\x63\x0e", b"\0\0\0\0\7\x80")
    kcli.ok("produce", name, "-D", "|", stdin=b"|".join(kinds[n % 3] for n in range(10)))
    return name


def registry() -> Scripted:
    def route(asked: Asked) -> Step:
        return answer({"schema": INT}) if asked.path == "/schemas/ids/7" else refusal(404, 40403)

    server = Scripted()
    server.route = route
    return server


@each(
    ("words", "many", "first"),
    [
        (["consume", "-e"], 6, 1),
        (["consume", "-c", "1"], 0, 0),
        (["consume", "-c", "3"], 2, 1),
        (["consume", "-c", "3", "-u"], 2, 1),
        (["consume", "-c", "3", "-J", "--decoded"], 2, 1),
        (["consume", "-c", "3", "--order", "time"], 2, 1),
        (["consume", "-e", "-c", "99", "--order", "time"], 6, 1),
        (["consume", "-e", "-c", "3", "--order", "offset"], 2, 1),
        (["consume", "--per-partition", "2"], 1, 1),
        (["consume", "-e", "-c", "99"], 6, 1),
        (["consume", "-o", "4:7", "-e"], 2, 4),
        (["consume", "-o", "4", "-c", "2"], 2, 4),
        (["tail", "-e", "-n", "1"], 0, 0),
        (["tail", "-e", "-n", "3"], 2, 7),
        (["tail", "-e", "-n", "99"], 6, 1),
    ],
)
def test_only_printed_records_count(words: list[str], many: int, first: int, kcli: Shell, topic: str) -> None:
    with registry() as server:
        done = kcli(words[0], topic, *words[1:], "--schema-registry", server.url)
    assert done.returncode == 0
    text = done.stderr.decode()
    if not many:
        assert text == ""
        return
    assert f"{many} value{' ' if many == 1 else 's '}could not be decoded and " in text
    assert f"(the first: {topic}[0] offset {first})" in text


def test_fail_on_undecoded_is_about_what_was_printed(kcli: Shell, topic: str) -> None:
    with registry() as server:
        by = ["--schema-registry", server.url, "--fail-on-undecoded"]
        assert kcli("consume", topic, "-c", "1", *by).returncode == 0
        assert kcli("consume", topic, "-c", "2", *by).returncode == 1
        assert kcli("tail", topic, "-e", "-n", "1", *by).returncode == 0


@each(
    ("words", "many"),
    [
        (["consume", "-e"], 6),
        (["consume", "-c", "1"], 0),
        (["consume", "-c", "2"], 2),
        (["consume", "-e", "-c", "99", "--order", "time"], 6),
        (["tail", "-e", "-n", "99"], 6),
        (["count"], 6),
    ],
)
def test_a_filter_counts_what_it_looked_at(words: list[str], many: int, kcli: Shell, topic: str) -> None:
    """Bytes that are no payload are filtered as they are: that is no unknown result, and exit 0."""
    with registry() as server:
        done = kcli(words[0], topic, *words[1:], "--where", "value == 7", "--schema-registry", server.url)
    assert done.returncode == 0
    assert done.stderr.decode().startswith(f"kcli: {many} values could not be decoded and are filtered") == bool(many)


@each(
    ("words", "out"),
    [
        (["consume", "-e", "--where", "value == 7"], b"7\n7\n7\n7\n"),
        (["consume", "-e", "--where", "value == 9", "--fail-if-none"], b""),
        (["consume", "-e", "-c", "99", "--grep", "^7$"], b"7\n7\n7\n7\n"),
        (["tail", "-e", "--where", "value == 7"], b"7\n7\n7\n7\n"),
        (["count", "--where", "value == 7"], b"4\n"),
        (["count", "--grep", "^7$"], b"4\n"),
    ],
)
def test_a_filter_that_the_registry_did_not_answer_exits_5(
    words: list[str], out: bytes, kcli: Shell, topic: str
) -> None:
    """Records that were decoded and match are printed; a sentence says that of the others it is not known."""

    def route(asked: Asked) -> Step:
        return answer({"schema": INT}) if asked.path == "/schemas/ids/7" else refusal(403, 40301)

    with Scripted() as server:
        server.route = route
        done = kcli(words[0], topic, *words[1:], "--schema-registry", server.url)
    assert (done.returncode, done.stdout) == (5, out)
    assert "it is unknown which of these records match" in done.stderr.decode()


def test_a_filter_that_does_not_look_there_is_no_unknown_result(kcli: Shell, topic: str) -> None:
    with Scripted(refusal(500, 50001)) as server:
        by = ["--schema-registry", server.url]
        assert kcli("consume", topic, "-e", "--where", "offset < 3", *by).returncode == 0
        assert kcli("count", topic, "--header", "a", *by).returncode == 0
        assert kcli("consume", topic, "-e", *by).returncode == 0


@pytest.mark.parametrize("order", ["time", "offset"])
def test_in_order_what_a_filter_could_not_see_counts_though_another_partition_was_printed(
    order: str, kcli: Shell
) -> None:
    name = kcli.topic(2)
    kcli.ok("produce", name, "-p", "0", "-D", "|", stdin=b"\0\0\0\0\x63\x0e")  # its schema is not answered
    kcli.ok("produce", name, "-p", "1", "-D", "|", stdin=b"\0\0\0\0\7\x0e")
    with Scripted() as server:
        server.route = lambda asked: answer({"schema": INT}) if asked.path == "/schemas/ids/7" else refusal(403, 40301)
        by = ["--order", order, "--where", "value == 7", "--schema-registry", server.url]
        done = kcli("consume", name, "-e", "-c", "1", *by)
    assert (done.returncode, done.stdout) == (5, b"7\n"), done.stderr
    assert b"1 value could not be decoded" in done.stderr
