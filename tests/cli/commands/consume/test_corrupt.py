"""Damaged batches: one sentence that names topic, partition and offset; --skip-corrupt leaves them out and counts."""

from __future__ import annotations

import pytest
from crc32c import crc32c

from kcli.proto.batch import seal
from kcli.proto.core import Builder
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell


def batch(*values: bytes) -> bytearray:
    builder = Builder()
    for value in values:
        builder.append(1_700_000_000_000, None, value, ())
    sealed = seal(builder.take(), len(values), builder.base_timestamp, builder.max_timestamp)
    sealed.stamp(-1, -1, -1)
    return bytearray(sealed.data)


def broken_inside(*values: bytes) -> bytearray:
    """A batch with a right CRC whose first record has an impossible length."""
    data = batch(*values)
    data[61] = 0x7F
    data[17:21] = crc32c(bytes(data[21:])).to_bytes(4, "big")
    return data


def store(sandbox: SandboxThread, topic: str, *batches: bytearray) -> None:
    """As they are: a broker takes no damaged batch from a producer."""
    for data in batches:
        sandbox.faults.logs.append(topic, 0, bytes(data))


@pytest.fixture(scope="module")
def damaged(shared_sandbox: SandboxThread) -> str:
    """a, b, then a damaged batch of two, then e."""
    topic = Shell(shared_sandbox.bootstrap).topic()
    store(shared_sandbox, topic, batch(b"a", b"b"), broken_inside(b"c", b"d"), batch(b"e"))
    return topic


COMMANDS = [["consume", "-e"], ["consume", "-e", "-J"], ["consume", "-e", "-K:"], ["tail", "--no-follow"]]


@pytest.mark.parametrize("words", COMMANDS)
def test_E5_a_batch_that_is_damaged_inside_is_named_and_ends_it(kcli: Shell, damaged: str, words: list[str]) -> None:
    done = kcli(words[0], damaged, *words[1:])
    assert done.returncode == 1
    said = done.stderr.decode()
    assert said.startswith(f"kcli: {damaged}[0]: the batch at offset 2 is corrupt: ")
    assert said.endswith("; --skip-corrupt continues\n")
    assert said.count("\n") == 1
    if words[0] == "consume":
        lines = done.stdout.splitlines()
        assert len([line for line in lines if not line.startswith(b'{"error":')]) == 2
        assert len(lines) == (3 if "-J" in words else 2)


@pytest.mark.parametrize("filter", [["--grep", "zzz"], ["--grep", "[a-e]"], ["--key", "k"], ["--header", "h"]])
@pytest.mark.parametrize("words", [["consume", "-e"], ["count"], ["tail", "--no-follow"]])
def test_a_filter_hides_no_damage(kcli: Shell, damaged: str, words: list[str], filter: list[str]) -> None:
    """Also one whose text is nowhere in the batch, so that no record of it is looked at."""
    done = kcli(words[0], damaged, *words[1:], *filter)
    assert done.returncode == 1
    assert f"{damaged}[0]: the batch at offset 2 is corrupt: " in done.stderr.decode()
    done = kcli(words[0], damaged, *words[1:], *filter, "--skip-corrupt")
    assert done.returncode == 0
    assert done.stderr.decode().endswith("kcli: skipped 1 corrupt batch\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(["consume", "-e"], "written up to"), (["count"], "counted up to"), (["tail", "--no-follow"], "read up to")],
)
def test_an_error_says_how_far_its_command_came(words: list[str], sentence: str) -> None:
    with SandboxThread(topics={"t": 1}) as sandbox:
        shell = Shell(sandbox.bootstrap)
        shell.ok("produce", "t", stdin=b"a\n")
        sandbox.call(lambda inside: inside.faults.logs.corrupt("t", times=100))
        done = shell(words[0], "t", *words[1:])
    assert done.returncode == 1
    assert done.stderr.decode().endswith(f"; {sentence} offset 0; --skip-corrupt continues\n"), done.stderr


@pytest.mark.parametrize("words", COMMANDS)
def test_E5_skip_corrupt_goes_on_and_counts(kcli: Shell, damaged: str, words: list[str]) -> None:
    done = kcli(words[0], damaged, *words[1:], "--skip-corrupt")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 3)
    first, last = done.stderr.decode().splitlines()
    assert first.startswith(f"kcli: {damaged}[0]: the batch at offset 2 is corrupt: ")
    assert first.endswith("; skipped")
    assert last == "kcli: skipped 1 corrupt batch"


def test_R4_a_group_commits_up_to_the_damaged_batch_and_not_past_it(kcli: Shell, damaged: str) -> None:
    for _ in range(2):
        done = kcli("consume", damaged, "-g", "reads-damaged", "-e", "--from-beginning")
        assert done.returncode == 1
    assert done.stdout == b""
    committed = kcli.ok("offsets", damaged, "-g", "reads-damaged", "--format", "ndjson")
    assert b'"committed":2' in committed.replace(b" ", b"")
