"""`kcli demo`: the main job on the embedded sandbox, with kcli's own commands, shown as they run.

A real file goes in and the same bytes come out, two groups read and one of them lags. Every step is checked; the exit
code is 0 only when all of it was true.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from kcli.cli.parsing.command import command
from kcli.cli.parsing.option import Options
from kcli.errors import KcliError, UsageError
from kcli.system import files
from kcli.system.signals import REQUESTS

if TYPE_CHECKING:
    from typing import Annotated

    import typer

DATASET_BYTES = 24 * 1024 * 1024
STEP_LIMIT = 300.0
POLL = 0.2  # seconds between two looks at what the main job printed
KCLI = [sys.executable, "-m", "kcli"]


class DemoOptions(Options):
    file: Annotated[
        str | None,
        typer.Option("--file", metavar="FILE", help="A text file to send. Default: installed Python sources."),
    ] = None
    dashboard: Annotated[
        bool, typer.Option("--dashboard", help="Open the dashboard afterwards (default: on a terminal).")
    ] = False
    no_dashboard: Annotated[bool, typer.Option("--no-dashboard", help="Do not open the dashboard.")] = False


@command(
    "demo",
    examples="""
kcli demo
kcli demo --no-dashboard
kcli demo --file access.log""",
)
def demo(options: DemoOptions) -> int:
    """Produce a file to the embedded sandbox, consume the same bytes, and show consumer lag.

    On a terminal the dashboard opens at once, with a five-step tour. It shows live producers and five groups: one keeps
    up, one falls behind, one is stuck, one has no members, one waits for an open transaction. Meanwhile the file is
    sent and read back; kcli prints the steps when you leave the dashboard.
    """
    file = None if options.file is None else Path(options.file)
    if file is not None and not file.is_file():
        raise UsageError(f"--file {file}: file not found")
    if file is not None and not file.stat().st_size:
        raise UsageError(f"--file {file}: it is empty, so there is nothing to send")
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    with tempfile.TemporaryDirectory(prefix="kcli-demo-") as folder, _sandbox() as bootstrap:
        if (options.dashboard or terminal) and not options.no_dashboard:
            with _aside(bootstrap, file, Path(folder)) as job:
                _dashboard(bootstrap)
                job.wait()
        else:
            main_job(bootstrap, file, Path(folder))
    print("\nThe sandbox is stopped. Everything above was checked.")
    return 0


def main_job(bootstrap: str, file: Path | None, folder: Path) -> None:
    """The steps, printed as they are done; a file made of installed sources where none is given. Raises KcliError."""
    source, back = file or _dataset(folder / "sources.txt"), folder / "back.txt"
    lines, size = _measure(source)
    print(f"$ export KCLI_BOOTSTRAP={bootstrap}\n\n{source.name}: {_plural(lines)}, {_size(size)}\n")
    run = Steps(bootstrap)
    run("topics", "create", "lines", "-p", "1")
    run("topics", "create", "events", "-p", "3")
    _rate(lines, size, run("produce", "lines", stdin=source))
    _rate(lines, size, run("consume", "lines", "-o", "beginning", "-e", stdout=back))
    _compare(source, back)
    run("produce", "events", "-z", "lz4", stdin=source)
    third = max(1, lines // 3)
    run("consume", "events", "-g", "keeps-up", "--from-beginning", "-c", str(lines), stdout=Path(os.devnull))
    run("consume", "events", "-g", "lags", "--from-beginning", "-c", str(third), stdout=Path(os.devnull))
    print("  'keeps-up' read everything, 'lags' a third; both have left")
    run("lag")
    run.check_lag({"keeps-up": 0, "lags": lines - third})


def _dashboard(bootstrap: str) -> None:
    """The dashboard on a scene that plays in a process of its own, until it is left."""
    scene = subprocess.Popen(
        [sys.executable, "-m", "kcli.cli.commands.demo.scene", bootstrap],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        done = subprocess.run([*KCLI, "tui", "-b", bootstrap, "--interval", "1s", "--tour"])
    finally:
        scene.terminate()
        scene.wait(STEP_LIMIT)
    if done.returncode:
        raise KcliError(f"the dashboard ended with exit code {done.returncode}")


class Job:
    """The main job in a process of its own, which prints into a file while the dashboard has the terminal."""

    def __init__(self, bootstrap: str, file: Path | None, folder: Path) -> None:
        self._file = folder / "printed"
        words = [
            sys.executable,
            "-m",
            "kcli.cli.commands.demo.job",
            bootstrap,
            str(folder),
            *([str(file)] if file else []),
        ]
        with self._file.open("wb") as out:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)

    def wait(self) -> None:
        """Print its steps, those of now and those still to come. Raises KcliError where one failed."""
        print("\nWhile the dashboard was open:\n", flush=True)
        with self._file.open("rb") as printed:  # of its own: a place shared with the writer would move both
            ended = None
            while ended is None:
                ended = self.process.poll()  # first: what it printed last is in the file then
                sys.stdout.write(printed.read().decode(errors="replace"))
                sys.stdout.flush()
                if ended is None:
                    time.sleep(POLL)
        if ended:
            raise KcliError("a step of the demo failed; see the last line above")

    def end(self) -> None:
        """End it, done or not."""
        self.process.terminate()
        self.process.wait(STEP_LIMIT)


@contextlib.contextmanager
def _aside(bootstrap: str, file: Path | None, folder: Path) -> Iterator[Job]:
    job = Job(bootstrap, file, folder)
    try:
        yield job
    finally:
        job.end()


class Steps:
    """Runs our commands against one cluster, shown as a person would type them."""

    def __init__(self, bootstrap: str) -> None:
        self.environment = {**os.environ, "KCLI_BOOTSTRAP": bootstrap}

    def __call__(self, *words: str, stdin: Path | None = None, stdout: Path | None = None) -> float:
        """Run one, with its redirections; the seconds it took. Raises KcliError when it fails."""
        redirected = (f" < {_name(stdin)}" if stdin else "") + (f" > {_name(stdout)}" if stdout else "")
        print(f"$ kcli {' '.join(words)}{redirected}", flush=True)
        with contextlib.ExitStack() as stack:
            source = stack.enter_context(stdin.open("rb")) if stdin else subprocess.DEVNULL
            sink = stack.enter_context(stdout.open("wb")) if stdout else None
            begin = time.perf_counter()
            try:
                done = subprocess.run(
                    [*KCLI, *words], stdin=source, stdout=sink, timeout=STEP_LIMIT, env=self.environment
                )
            except subprocess.TimeoutExpired:
                raise KcliError(f"the step above did not finish within {STEP_LIMIT:.0f} s") from None
            took = time.perf_counter() - begin
        if done.returncode:
            raise KcliError(f"the step above ended with exit code {done.returncode}")
        return took

    def check_lag(self, expected: dict[str, int]) -> None:
        """Raises KcliError when the lag of the groups is not what it must be."""
        words = [*KCLI, "lag", "--format", "ndjson"]
        done = subprocess.run(words, capture_output=True, timeout=STEP_LIMIT, text=True, env=self.environment)
        found = {
            row["group"]: row["lag"] for row in map(json.loads, done.stdout.splitlines()) if row["group"] in expected
        }
        if found != expected:
            raise KcliError(f"the lag table shows {found}, but it should show {expected}")


def _name(path: Path) -> str:
    return str(path) if path.is_char_device() else path.name


def _plural(lines: int) -> str:
    return f"{lines:,} line{'' if lines == 1 else 's'}"


def _size(size: int) -> str:
    return f"{size:,} bytes" if size < 100_000 else f"{size / 1e6:.1f} MB"


def _rate(lines: int, size: int, took: float) -> None:
    """How fast it was, where that says more than how long a process takes to start."""
    if size < 1_000_000:
        print(f"  {_plural(lines)} in {took:.2f} s")
    else:
        print(f"  {lines / took:,.0f} records/s, {size / took / 1e6:.0f} MB/s, start and end of the process included")


def _compare(source: Path, back: Path) -> None:
    """The bytes that came back are those that went in; a last line without newline comes back with one."""
    sent, received = _digest(source), _digest(back)
    print(f"  sha256 in  {sent}\n  sha256 out {received}")
    if sent != received:
        raise KcliError("the consumed bytes differ from the produced bytes")


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    last = b"\n"
    with files.opened(path) as data:
        while block := data.read(1 << 20):
            found.update(block)
            last = block[-1:]
    if last != b"\n":
        found.update(b"\n")
    return found.hexdigest()


def _measure(path: Path) -> tuple[int, int]:
    lines = 0
    last = b"\n"
    with files.opened(path) as data:
        while block := data.read(1 << 20):
            lines += block.count(b"\n")
            last = block[-1:]
    return lines + (last != b"\n"), path.stat().st_size


def _dataset(path: Path) -> Path:
    """Real text that every environment has: the sources of the standard library and the installed packages."""
    folders = [Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("stdlib"))]
    with path.open("wb") as out:
        for folder in folders:
            for found in sorted(folder.rglob("*.py")):
                text = found.read_bytes()
                out.write(text if text.endswith(b"\n") or not text else text + b"\n")
                if out.tell() >= DATASET_BYTES:
                    return path
    return path


def _leave(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)


@contextlib.contextmanager
def _sandbox() -> Iterator[str]:
    """A sandbox in a process of its own on a free port; its address."""
    words = [*KCLI, "sandbox", "--port", "0", "--format", "json"]
    print("$ kcli sandbox --port 0", flush=True)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    before = [(number, signal.signal(number, _leave)) for number in REQUESTS]  # a signal to us ends the sandbox too
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        if not first:
            raise KcliError(f"the sandbox did not start (exit code {process.wait()})")
        yield json.loads(first)["bootstrap"]
    finally:
        for number, handler in before:
            signal.signal(number, handler)
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
