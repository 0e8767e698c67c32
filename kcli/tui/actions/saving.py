"""`s`: what is on the screen, kept: the snapshot as a line of `kcli lag record`, the screen as SVG. `w`: the records
that are shown, as lines that `kcli produce --input json` reads."""

from __future__ import annotations

import json
import os
import time
from base64 import b64encode
from typing import TYPE_CHECKING

from kcli.errors import KcliError
from kcli.lag.formats.recording import line
from kcli.lag.watch import LagSnapshot
from kcli.paths import state_folder
from kcli.system.files import new_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.tui.tail import Seen


def save(name: str, snapshot: LagSnapshot | None, picture: str) -> list[str]:
    """The files that were written, in the state folder's snapshots. Raises KcliError."""
    contents = [(".svg", picture)]
    if snapshot is not None:
        contents.insert(0, (".ndjson", line(snapshot.time, snapshot.snapshot)))
    return [_written(_new_path(name, "snapshots", suffix), text) for suffix, text in contents]


def save_records(name: str, records: Iterable[Seen]) -> str:
    """The file that was written, in the state folder's records. Raises KcliError."""
    return _written(_new_path(name, "records", ".ndjson"), "".join(f"{json_line(record)}\n" for record in records))


def json_line(record: Seen) -> str:
    """A record as `consume -J` writes it; bytes that are no text are base64."""
    fields = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": as_text(record.key),
        "value": as_text(record.value),
        "headers": [[name, as_text(value)] for name, value in record.headers],
    }
    return json.dumps(fields, ensure_ascii=False)


def as_text(data: bytes | None) -> str | dict[str, str] | None:
    """As envelopes write it."""
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}


def _written(path: str, text: str) -> str:
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with new_file(path, mode=0o600) as out:
            out.write(text.encode())
    except OSError as problem:
        raise KcliError(f"nothing was saved: {path}: {problem.strerror}") from None
    return path


def _new_path(name: str, kind: str, suffix: str) -> str:
    """A new name in the state folder's `kind`."""
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)[:100]
    stem = os.path.join(state_folder(kind), f"{plain}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
    number, path = 1, f"{stem}{suffix}"
    while os.path.lexists(path):
        number += 1
        path = f"{stem}-{number}{suffix}"
    return path
