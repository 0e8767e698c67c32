"""`kcli produce` and a topic that does not exist: an error at once, or waited for when it is asked to (D47)."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

from tests.cli.conftest import Shell


def said(process: subprocess.Popen[bytes], text: bytes) -> bytes:
    """What the process wrote to stderr until the text was in it."""
    assert process.stderr is not None
    got = b""
    while text not in got:
        piece = os.read(process.stderr.fileno(), 1 << 16)
        assert piece, got
        got += piece
    return got


def test_D47_a_typing_error_never_waits(kcli: Shell) -> None:
    begun = time.monotonic()
    done = kcli("produce", "no-such-topic", stdin=b"x\n")
    assert done.returncode == 1
    assert b"no-such-topic: this topic does not exist" in done.stderr
    assert time.monotonic() - begun < 10, "max.block.ms is a minute"


@pytest.mark.process
@pytest.mark.parametrize("words", [(), ("--transactional-id", "wait-for-topic")], ids=["plain", "transaction"])
def test_D47_wait_for_topic_sends_once_the_topic_is_created(kcli: Shell, words: tuple[str, ...]) -> None:
    topic = f"later-{len(words)}"
    with kcli.start("produce", topic, "--wait-for-topic", *words) as process:
        assert process.stdin is not None
        process.stdin.write(b"a\nb\n")
        process.stdin.close()
        told = said(process, b"this topic does not exist yet; waiting up to 120 s for it\n")
        assert told.startswith(b"kcli: later-")
        kcli.ok("topics", "create", topic)
        assert process.wait(30) == 0
    assert kcli.ok("consume", topic, "-e") == b"a\nb\n"


def test_D47_wait_for_topic_ends_at_max_block_and_sends_nothing(kcli: Shell) -> None:
    done = kcli("produce", "never", "--wait-for-topic", "-X", "max.block.ms=700", stdin=b"x\n")
    assert done.returncode == 1
    assert b"never: the topic does not exist, and was not created within 0.7 s (max.block.ms)" in done.stderr
    assert b"1 record read: 0 acknowledged, 0 failed, 0 unknown, 1 not sent" in done.stderr
    quiet = kcli("produce", "never", "-q", "--wait-for-topic", "-X", "max.block.ms=600", stdin=b"")
    assert quiet.returncode == 1
    assert b"waiting" not in quiet.stderr
