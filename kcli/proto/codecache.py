"""Compiled codecs, kept beside the modules' own bytecode: compiling eight of them is a tenth of a short command.

A file holds the source it was compiled from, and counts only if that is what was generated now: it cannot be stale.
It is trusted as `__pycache__` is; nothing is written when Python must not write bytecode, and a folder that
cannot be written to just means no cache.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

FOLDER = os.path.join(os.path.dirname(__file__), "__pycache__")
# bytecode belongs to one release of one implementation, which is what this tells apart
TAG = f"{sys.implementation.cache_tag}-{sys.hexversion:x}"


def load(name: str, source: str) -> CodeType | None:
    """The code object compiled from `source`, or None when it is not there."""
    try:
        with open(_path(name), "rb") as file:
            kept, code = marshal.loads(file.read())
    except (OSError, ValueError, EOFError, TypeError):
        return None  # absent, torn or of another marshal format: compiled anew
    return code if kept == source else None


def store(name: str, source: str, code: CodeType) -> None:
    """Keep a code object for the next process."""
    if sys.dont_write_bytecode:
        return
    path = _path(name)
    fresh = f"{path}.{os.getpid()}"
    try:
        with open(fresh, "wb") as file:
            file.write(marshal.dumps((source, code)))
        os.replace(fresh, path)  # another process sees all of it or nothing
    except OSError:
        return  # a read-only installation: it works without


def _path(name: str) -> str:
    return os.path.join(FOLDER, f"{name}.{TAG}.codec")
