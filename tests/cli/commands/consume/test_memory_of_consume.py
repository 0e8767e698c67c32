"""What a read of compressed batches holds in memory: never much more than a batch, whatever comes in one answer."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator

import pytest

from kcli.proto import core
from kcli.proto.batch import seal
from kcli.proto.core import Builder
from kcli.sandbox.thread import SandboxThread
from tests.cli.commands.consume.test_corrupt import store
from tests.cli.conftest import Shell

MB = 1024 * 1024
PURE = core.NAME != "compiled"
MOST, MOST_OF_A_GIANT = (250, 1600) if PURE else (150, 600)
"""Megabytes; the plain-Python record core makes objects of what it prints."""
WIDE = [f"wide{number}" for number in range(6)]
RUN = """
import resource, sys
from kcli.cli.main import main
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))  # a bomb ends the process, not the machine
code = main(sys.argv[1:])
sys.stdout.flush()
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(peak.split()[1], file=sys.stderr)
sys.exit(code)
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def packed(values: list[bytes], codec: str = "zstd") -> bytearray:
    builder = Builder()
    for value in values:
        builder.append(1_700_000_000_000, None, value, ())
    count, base, latest = builder.count, builder.base_timestamp, builder.max_timestamp
    return bytearray(seal(builder.take(), count, base, latest, codec=codec).data)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxThread]:
    dice = random.Random(5)
    line = b"2026-11-22 GET /orders/%02x/items?page=1&sort=descending&language=en " + b"agent=Mozilla/5.0 " * 9 + b"200"
    lines = [line % dice.getrandbits(8) for _ in range(100_000)]
    with SandboxThread(topics={"giants": 1, "json": 1, "lines": 1, **dict.fromkeys(WIDE, 1)}) as running:
        store(running, "giants", *[packed([bytes(63 * MB)])] * 6)
        store(running, "json", packed([b"[" + b'{"a":1},' * (63 * MB // 8 - 1) + b"{}]"]))
        store(running, "lines", *[packed(lines)] * 16)
        for name in WIDE:
            store(running, name, packed(lines))
        yield running


def peak(sandbox: SandboxThread, *words: str) -> float:
    """Megabytes that a process of kcli had resident at most."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300,
        env=Shell(sandbox.bootstrap).environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return int(done.stderr.split()[-1]) / 1024


@pytest.mark.process
@pytest.mark.parametrize("words", [[], ["-J"]], ids=["values", "json"])
def test_E6_harmless_batches_that_come_together_are_not_in_memory_together(
    sandbox: SandboxThread, words: list[str]
) -> None:
    assert peak(sandbox, "consume", "lines", "-e", "-q", *words) < MOST


@pytest.mark.long
@pytest.mark.process
@pytest.mark.parametrize("words", [[], ["-J"]], ids=["values", "json"])
def test_E6_six_bombs_in_one_answer_cost_as_much_as_one(sandbox: SandboxThread, words: list[str]) -> None:
    assert peak(sandbox, "consume", "giants", "-e", "-q", *words) < MOST_OF_A_GIANT


@pytest.mark.process
@pytest.mark.parametrize("topic", ["giants", "json"])
def test_a_page_of_a_huge_record_is_cut(sandbox: SandboxThread, topic: str) -> None:
    """A value of 63 MiB that comes in a few KB took a minute and 2.5 GB."""
    assert peak(sandbox, "consume", topic, "-n", "1", "-q", "--pretty") < MOST_OF_A_GIANT


@pytest.mark.process
def test_E6_the_last_records_of_large_batches_do_not_hold_their_batches(sandbox: SandboxThread) -> None:
    assert peak(sandbox, "tail", *WIDE, "--no-follow", "-n", "100", "-q") < MOST
