"""`python -m tests.nightly [PIECE…]`: what is too long for each change, piece by piece, with the time of each.

A piece is some commands that run beside one another, because each of them uses one core or waits. A piece that fails
does not keep the next from its turn; one that takes longer than LIMIT is ended and has failed. The estimates are
minutes on two quiet cores. Exit code 1 when a piece failed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LIMIT = 9000.0
"""Seconds for one piece: the two hours of the lake, and a quarter more."""
MODULE = (sys.executable, "-m")


@dataclass(frozen=True)
class Piece:
    minutes: int
    """How long it takes on two quiet cores."""
    commands: tuple[tuple[str, ...], ...]
    environment: tuple[tuple[str, str], ...] = ()


PIECES = {
    "test": Piece(12, (("make", "test"),)),
    "test-long": Piece(20, (("make", "test-long"),)),
    "avro": Piece(
        10,
        ((*MODULE, "pytest", "-q", "-n", "0", "tests/interop/avro"),),
        (("AVRO_SECONDS", "600"), ("AVRO_SEED", "1000000")),
    ),
    "fuzz": Piece(  # both record cores, fastavro and google.protobuf as oracles; a new seed each time, which is printed
        10,
        ((*MODULE, "pytest", "-q", "-n", "2", "-m", "not long", "--timeout", "1200", "tests/proto", "tests/serde"),),
        (("KCLI_TRIES", "10"),),
    ),
    "test-spark": Piece(18, (("make", "test-spark"), ("make", "test-spark-long"))),
    "lake": Piece(110, ((*MODULE, "tests.pipeline.jobs.lake.matrix", "60"),)),
    "test-pure": Piece(2, (("make", "test-pure"),)),
    "test-pictures": Piece(2, (("make", "test-pictures"),)),
    "storm": Piece(4, (("make", "storm"),)),
    "soak": Piece(3, (("make", "soak"),)),
    "soak-tui": Piece(15, (("make", "soak-tui"),)),
    "late": Piece(8, (("make", "late"),)),
    "watch": Piece(1, ((*MODULE, "tests.kafka.watch"),)),
    "versions": Piece(3, (("make", "versions"),)),
    "roots": Piece(8, (("make", "test-root"), ("make", "test-root", "SUITE=trixie"))),  # needs root and debootstrap
    "chaos": Piece(
        64,
        (
            (*MODULE, "tests.kafka.chaos"),
            (*MODULE, "tests.producer.schedules", "0", "25000"),  # 50,000 take 23 minutes of a core
            (*MODULE, "tests.consumer.schedules", "0", "25000"),
            (*MODULE, "tests.cli.mutated_commands"),
            (*MODULE, "tests.tui.mutated_screens"),
            (*MODULE, "tests.serde.avro.columns.hostile"),
        ),
        (
            ("CHAOS_SECONDS", "3600"),
            ("MUTATED_SEEDS", "1000"),  # `make chaos` plays 20,000
            ("MUTATED_SCHEMAS", "50000"),
        ),
    ),
}


def main(wanted: Sequence[str]) -> int:
    unknown = [name for name in wanted if name not in PIECES]
    if unknown:
        print(f"no piece is called {unknown[0]}; there are {', '.join(PIECES)}", file=sys.stderr)
        return 2
    names, begun = list(wanted) or list(PIECES), time.monotonic()
    took: dict[str, float] = {}
    failed = []
    for name in names:
        print(f"nightly: {name} begins", flush=True)
        since = time.monotonic()
        if not play(PIECES[name]):
            failed.append(name)
        took[name] = time.monotonic() - since
        print(f"nightly: {name} {'failed' if name in failed else 'passed'} in {clock(took[name])}", flush=True)
    for name in names:
        word = "failed" if name in failed else "passed"
        print(f"nightly: {name:14} {word} {clock(took[name]):>8}  (about {PIECES[name].minutes} min)")
    print(f"nightly: {len(names) - len(failed)} of {len(names)} passed in {clock(time.monotonic() - begun)}")
    return 1 if failed else 0


def play(piece: Piece, limit: float = LIMIT) -> bool:
    """Run the commands of a piece beside one another and print what they say, one after the other. Whether all ended
    with 0 in time."""
    environment = {**os.environ, **dict(piece.environment)}
    end = time.monotonic() + limit
    good = True
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        alone = len(piece.commands) == 1
        started = []
        for number, command in enumerate(piece.commands):
            out = None if alone else running.enter_context(Path(folder, str(number)).open("w+"))
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out and subprocess.STDOUT, env=environment,
                start_new_session=True,
            )  # fmt: skip
            running.callback(_end, process)
            started.append((command, process, out))
        for command, process, out in started:
            try:
                code = process.wait(max(end - time.monotonic(), 0.0))
            except subprocess.TimeoutExpired:
                print(f"nightly: {' '.join(command)} is not done after {limit:g} s", flush=True)
                _end(process)
                code = 1
            if out is not None:
                out.seek(0)
                print(out.read(), end="", flush=True)
            good = good and code == 0
    return good


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a command with what it started, if it still runs."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)


def clock(seconds: float) -> str:
    """`1:02:03`, `2:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
