"""A file that a line names, read whole up to a bound."""

from __future__ import annotations

import sys

from kcli.errors import UsageError


def read_file(path: str, most: int) -> bytes:
    """The bytes of a file, at most `most`; `-` is stdin. Raises UsageError."""
    try:
        if path == "-":
            data = sys.stdin.buffer.read(most + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(most + 1)
    except OSError as problem:
        raise UsageError(f"{path}: {problem.strerror}") from None
    if len(data) > most:
        raise UsageError(f"{path}: the file is larger than {most >> 20} MiB")
    return data
