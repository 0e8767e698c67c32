"""`s`: what is on the screen, kept: the look as a line of `kcli lag record`, the screen as SVG."""

from __future__ import annotations

import os

from kcli.admin.undo import new_path
from kcli.errors import KcliError
from kcli.lag.formats.recording import line
from kcli.lag.watch import Look
from kcli.paths import private


def save(name: str, look: Look | None, picture: str) -> list[str]:
    """The files that were written, in the state folder's snapshots. Raises KcliError."""
    found = []
    contents = [(".svg", picture)]
    if look is not None:
        contents.insert(0, (".ndjson", line(look.time, look.snapshot)))
    for suffix, text in contents:
        path = new_path(name, "snapshots", suffix)
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with open(path, "x", encoding="utf-8", opener=private) as out:
                out.write(text)
        except OSError as problem:
            raise KcliError(f"nothing was saved: {path}: {problem.strerror}") from None
        found.append(path)
    return found
