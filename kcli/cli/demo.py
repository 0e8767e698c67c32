"""`kcli demo`: the main job on the embedded sandbox, with kcli's own commands, shown as they run.

A real file goes in and the same bytes come out, two groups read and one of them lags. Every step is checked; the exit
code is 0 only when all of it was true.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from kcli.cli.typed import SETTINGS
from kcli.errors import KcliError, UsageError

app = typer.Typer(**{**SETTINGS, "no_args_is_help": False})

DATASET_BYTES = 24 * 1024 * 1024
STEP_LIMIT = 300.0
KCLI = [sys.executable, "-m", "kcli"]


@app.command()
def demo(
    file: Annotated[Path | None, typer.Option(help="A text file to send. Default: installed Python sources.")] = None,
) -> int:
    """Do the main job on the embedded sandbox: a real file in, the same bytes out, and who lags.

    \b
    Examples:
      kcli demo
      kcli demo --file access.log
    """
    if file is not None and not file.is_file():
        raise UsageError(f"--file {file}: there is no such file")
    with tempfile.TemporaryDirectory(prefix="kcli-demo-") as folder, _sandbox() as bootstrap:
        source = file or _dataset(Path(folder) / "sources.txt")
        _main_job(bootstrap, source, Path(folder) / "back.txt")
    print("\nThe sandbox is stopped. Everything above was checked.")
    return 0


def _main_job(bootstrap: str, source: Path, back: Path) -> None:
    lines, size = _measure(source)
    print(f"{source.name}: {lines:,} lines, {size / 1e6:.1f} MB\n")
    on = ["-b", bootstrap]
    _kcli("topics", "create", "lines", "-p", "1", "--wait", *on)
    _kcli("topics", "create", "events", "-p", "3", "--wait", *on)
    took = _kcli("produce", "lines", *on, stdin=source)
    print(f"  {lines / took:,.0f} records/s, {size / took / 1e6:.0f} MB/s")
    took = _kcli("consume", "lines", "-o", "beginning", "-e", *on, stdout=back)
    print(f"  {lines / took:,.0f} records/s, {size / took / 1e6:.0f} MB/s")
    _compare(source, back)
    _kcli("produce", "events", "-z", "lz4", *on, stdin=source)
    third = max(1, lines // 3)
    _kcli("consume", "events", "-g", "keeps-up", "--from-beginning", "-c", str(lines), *on, stdout=Path("/dev/null"))
    _kcli("consume", "events", "-g", "lags", "--from-beginning", "-c", str(third), *on, stdout=Path("/dev/null"))
    _kcli("lag", *on)
    _check_lag(bootstrap, {"keeps-up": 0, "lags": lines - third})


def _kcli(*words: str, stdin: Path | None = None, stdout: Path | None = None) -> float:
    """Run one of our commands, shown with its redirections; the seconds it took. Raises KcliError when it fails."""
    shown = " ".join(word if word.isprintable() and " " not in word else repr(word) for word in words)
    redirected = (f" < {stdin.name}" if stdin else "") + (f" > {stdout.name}" if stdout else "")
    print(f"$ kcli {shown}{redirected}", flush=True)
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(stdin.open("rb")) if stdin else subprocess.DEVNULL
        sink = stack.enter_context(stdout.open("wb")) if stdout else None
        begin = time.perf_counter()
        done = subprocess.run([*KCLI, *words], stdin=source, stdout=sink, timeout=STEP_LIMIT)
        took = time.perf_counter() - begin
    if done.returncode:
        raise KcliError(f"the step above ended with exit code {done.returncode}")
    return took


def _compare(source: Path, back: Path) -> None:
    """The bytes that came back are those that went in; a last line without newline comes back with one."""
    sent, received = _digest(source), _digest(back)
    print(f"  sha256 in  {sent}\n  sha256 out {received}")
    if sent != received:
        raise KcliError("the bytes that came back are not the bytes that went in")


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    last = b"\n"
    with path.open("rb") as data:
        while block := data.read(1 << 20):
            found.update(block)
            last = block[-1:]
    if last != b"\n":
        found.update(b"\n")
    return found.hexdigest()


def _measure(path: Path) -> tuple[int, int]:
    lines = 0
    last = b"\n"
    with path.open("rb") as data:
        while block := data.read(1 << 20):
            lines += block.count(b"\n")
            last = block[-1:]
    return lines + (last != b"\n"), path.stat().st_size


def _check_lag(bootstrap: str, expected: dict[str, int]) -> None:
    words = [*KCLI, "lag", "-b", bootstrap, "--format", "ndjson"]
    done = subprocess.run(words, capture_output=True, timeout=STEP_LIMIT, text=True)
    found = {row["group"]: row["lag"] for row in map(json.loads, done.stdout.splitlines())}
    if found != expected:
        raise KcliError(f"the lag table says {found}, and it should be {expected}")


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


@contextlib.contextmanager
def _sandbox() -> Iterator[str]:
    """A sandbox in a process of its own on a free port; its address."""
    words = [*KCLI, "sandbox", "--port", "0", "--format", "json"]
    print("$ kcli sandbox --port 0", flush=True)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        if not first:
            raise KcliError(f"the sandbox did not start (exit code {process.wait()})")
        yield json.loads(first)["bootstrap"]
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()
