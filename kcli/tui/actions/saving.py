"""`s`: what is on the screen, kept: the snapshot as a line of `kcli lag record`, the screen as SVG. `w`: records,
as lines that `kcli produce --input json` reads."""

from __future__ import annotations

import os
import time
from base64 import b64encode
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kcli.errors import KcliError
from kcli.lag.formats.recording import line
from kcli.lag.watch import LagSnapshot
from kcli.paths import state_folder
from kcli.system.files import new_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def save(name: str, snapshot: LagSnapshot | None, picture: str) -> list[str]:
    """The files that were written, in the state folder's snapshots. Raises KcliError."""
    contents = [(".svg", picture)]
    if snapshot is not None:
        contents.insert(0, (".ndjson", line(snapshot.time, snapshot.snapshot)))
    return [_written(new_path(name, "snapshots", suffix), text) for suffix, text in contents]


@contextmanager
def saving(path: str) -> Iterator[Callable[[bytearray], object]]:
    """Give what writes to a new file, which has its name when the block ends without an error. Raises KcliError."""
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)
        with new_file(path, mode=0o600) as out:
            yield out.write
    except OSError as problem:
        raise KcliError(f"nothing was saved: {path}: {problem.strerror or problem}") from None


def as_text(data: bytes | None) -> str | dict[str, str] | None:
    """As envelopes write it."""
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}


def _written(path: str, text: str) -> str:
    with saving(path) as write:
        write(bytearray(text.encode()))
    return path


def new_path(name: str, kind: str, suffix: str) -> str:
    """A new name in the state folder's `kind`."""
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)[:100]
    stem = os.path.join(state_folder(kind), f"{plain}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
    number, path = 1, f"{stem}{suffix}"
    while os.path.lexists(path):
        number += 1
        path = f"{stem}-{number}{suffix}"
    return path
