"""The pipelines of this machine that run or ran: a file for each in the state folder, written by the job itself.

The state folder's `pipelines` has ID.json, the job and its state, renewed each second and at its end; and ID.ask, which
asks the job to drain or to stop. A job whose process is gone without a word has crashed: nothing has to be tidied up
for that to be seen.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

from kcli.paths import private, state_folder
from kcli.pipeline.sink.storage import as_s3
from kcli.system import files
from kcli.system.processes import born
from kcli.values import Value

EVERY = 1.0
"""Seconds between two words of a job."""
KEPT = 200
"""Jobs that have ended and are remembered."""
ASKED = {"drain": 1, "stop": 2}


class Entry(Value):
    """A job. `state` is running, done, interrupted, failed, or crashed (its process is gone, and said nothing); times
    are seconds since 1970; -1 and "" are unknown."""

    id: str = ""
    name: str = ""
    command: str = ""
    mode: str = ""
    source: str = ""
    destination: str = ""
    checkpoint: str = ""
    log: str = ""
    pid: int = 0
    born: str = ""
    begun: float = 0.0
    told: float = 0.0
    state: str = "running"
    error: str = ""
    batch: int = -1
    rows: int = 0
    bad: int = 0
    rate: float = 0.0
    lag: int = -1
    done: int = 0
    total: int = -1

    @property
    def alive(self) -> bool:
        """Whether its process is still there."""
        return self.state == "running" and bool(self.born) and born(self.pid) == self.born


def folder() -> Path:
    """Where the files are."""
    return Path(state_folder("pipelines"))


def entries() -> list[Entry]:
    """Every job that is known, the newest first. A file that is none of ours is passed over."""
    entries = [entry for path in folder().glob("*.json") if (entry := _read(path)) is not None]
    for entry in entries:
        if entry.state == "running" and not entry.alive:
            entry.state = "crashed"
    return sorted(entries, key=lambda entry: (entry.begun, entry.id), reverse=True)


def _read(path: Path) -> Entry | None:
    try:
        values = {"bad": 0, **json.loads(files.read(path, files.SETTINGS))}  # bad came later
        return Entry(**{f.name: values[f.name] for f in Entry.__fields__})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def live(checkpoint: str) -> Entry | None:
    """The running job that has this checkpoint."""
    return next((entry for entry in entries() if entry.alive and same(entry.checkpoint, checkpoint)), None)


def absolute(place: str) -> str:
    """A path as it is meant from every folder; a URI, and what is no path at all (""), stays as it is."""
    return os.path.abspath(place) if place and "://" not in place else place


def same(one: str, other: str) -> bool:
    """Whether two names are of one folder of this machine, or the same URI."""
    if not one or not other or "://" in one or "://" in other:
        return bool(one) and as_s3(one) == as_s3(other)
    return os.path.realpath(one) == os.path.realpath(other)


def ask(entry: Entry, wish: str) -> None:
    """Let a job drain or stop; it looks several times a second."""
    path = folder() / f"{entry.id}.ask"
    _put(path, wish)


def _put(path: Path, text: str) -> None:
    """Write a file as a whole. Only its owner may read its content (errors, addresses)."""
    fresh = path.with_suffix(".new")
    with open(fresh, "w", encoding="utf-8", opener=private) as out:
        out.write(text)
    fresh.replace(path)


class Registered:
    """`with Registered(entry) as job:` while it runs. A disk that is full costs the word, not the work."""

    def __init__(self, entry: Entry) -> None:
        entry.id = uuid4().hex[:8]
        entry.pid, entry.born = os.getpid(), born(os.getpid())
        entry.begun = time.time()
        self.entry = entry
        self._next = 0.0
        self._ask = folder() / f"{entry.id}.ask"

    def __enter__(self) -> Self:
        with suppress(OSError):
            folder().mkdir(mode=0o700, parents=True, exist_ok=True)
            forget()
        self._write()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.entry.state == "running":
            self.end("failed", "" if error is None else str(error))
        with suppress(OSError):
            self._ask.unlink(missing_ok=True)

    def asked(self) -> int:
        """0: nothing, 1: drain, 2: stop."""
        try:
            return ASKED.get(files.read_text(self._ask, files.SETTINGS), 0)
        except OSError:
            return 0

    def tell(self, **figures: float) -> None:
        """The state, written once a second."""
        for name, value in figures.items():
            setattr(self.entry, name, value)
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY
            self._write()

    def end(self, state: str, error: str = "") -> None:
        """How it ended."""
        self.entry.state, self.entry.error = state, error
        self._write()

    def _write(self) -> None:
        self.entry.told = time.time()
        path = folder() / f"{self.entry.id}.json"
        with suppress(OSError):
            _put(path, json.dumps({f.name: getattr(self.entry, f.name) for f in Entry.__fields__}, indent=1))


def forget() -> None:
    """Remove the oldest of those that ended."""
    for entry in [entry for entry in entries() if not entry.alive][KEPT:]:
        for suffix in ("json", "ask"):
            (folder() / f"{entry.id}.{suffix}").unlink(missing_ok=True)
