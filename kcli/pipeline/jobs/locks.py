"""Ensures a single run on this machine per checkpoint and per folder of files, with locks that end with their
process."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from kcli.errors import UsageError
from kcli.paths import state_folder
from kcli.pipeline.sink.storage import as_s3
from kcli.system import files


@contextmanager
def held(places: Sequence[str], name: str) -> Iterator[None]:
    """Hold the locks of these paths and URIs; "" is skipped. Raises UsageError if another process holds one of them."""
    with ExitStack() as stack:
        for place in dict.fromkeys(filter(None, places)):
            stack.enter_context(_held(place, name))
        yield


def check(place: str) -> None:
    """Raise UsageError while a pipeline uses this path or URI."""
    if _path(place).exists():
        with _held(place, ""):
            pass


@contextmanager
def _held(place: str, name: str) -> Iterator[None]:
    path = _path(place)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = _locked(path, place)
    with file:
        file.write(json.dumps({"name": name, "pid": os.getpid(), "place": place}).encode())
        file.flush()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _locked(path: Path, place: str) -> BinaryIO:
    while True:
        file: BinaryIO = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        try:
            files.lock(file.fileno())
        except OSError:
            with file:
                raise _used(file.read(4096), place) from None
        if path.exists() and os.fstat(file.fileno()).st_ino == path.stat().st_ino:
            file.truncate()
            return file
        file.close()  # its holder ended and deleted it between our two calls


def _used(text: bytes, place: str) -> UsageError:
    try:
        known = json.loads(text)
        who = f"{known['name']}, in process {known['pid']},"
    except (ValueError, KeyError, TypeError):
        who = "another process"
    return UsageError(f"{who} is using {place}: wait until it ends; SIGTERM ends a stream after its current batch")


def _path(place: str) -> Path:
    """Return the file of a lock; links lead to the same one."""
    real = as_s3(place) if "://" in place else os.path.realpath(place)
    return Path(state_folder("pipelines")) / f"{sha256(real.encode()).hexdigest()[:16]}.lock"
