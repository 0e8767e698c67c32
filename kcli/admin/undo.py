"""Undo files on the disk: the state before a change, written before the change is sent. If that fails, nothing is sent.

The options and the schemas of a command's undo file are in `kcli/cli/runtime/undo.py`.
"""

from __future__ import annotations

import os
import time

from kcli.errors import KcliError
from kcli.paths import private, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class NoUndo(KcliError):
    """The undo file could not be written, so nothing was changed."""


def write(document: dict[str, Any], name: str, path: str | None = None, *, hint: str = "") -> str:
    """Write `document` to `path`, or to a new file called after `name`; its path. `hint` ends the sentence when that
    fails. Raises NoUndo."""
    from json import dumps

    file = path or new_path(name)
    text = dumps(document, ensure_ascii=False, indent=1) + "\n"
    try:
        if not path:
            os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        with open(file, "x", encoding="utf-8", opener=private) as out:
            try:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            except OSError:
                os.unlink(file)  # a part of one would look like one
                raise
    except OSError as error:
        raise NoUndo(f"nothing was changed: the undo file {file} cannot be written ({error.strerror}){hint}") from None
    return file


def new_path(name: str, kind: str = "undo", suffix: str = ".json") -> str:
    """A new name in the state folder's `kind`."""
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)[:100]
    stem = os.path.join(state_folder(kind), f"{plain}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
    number, path = 1, f"{stem}{suffix}"
    while os.path.lexists(path):
        number += 1
        path = f"{stem}-{number}{suffix}"
    return path


def taken(cluster_id: str | None) -> list[dict[str, str | None]]:
    """Time and cluster of the state, as the undo file stores them."""
    return [{"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "cluster_id": cluster_id}]
