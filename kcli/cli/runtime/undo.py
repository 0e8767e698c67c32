"""The undo file of a command line (`--undo-file`), and how `kcli undo` reads one."""

from __future__ import annotations

import json
import os
import sys
import time

from kcli.errors import KcliError, UsageError
from kcli.paths import private
from kcli.text.json_object import read_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.changes.change import Undo
    from kcli.cli.parsing.groups import UndoOptions
    from kcli.text.json_object import JsonObject


def check_undo_file(options: UndoOptions) -> None:
    """Raises UsageError for options that contradict each other, and for a file that exists."""
    if options.undo_file is None:
        return
    if options.no_undo:
        raise UsageError("--undo-file and --no-undo exclude each other")
    if not options.plan_only and os.path.lexists(options.undo_file):
        raise UsageError(f"--undo-file {options.undo_file}: the file exists; name a new one")


def write_undo_file(options: UndoOptions, kept: Undo, where: str | None) -> None:
    """Write what `--undo-file` asks for, if there is anything to undo. Raises KcliError."""
    path = options.undo_file
    if path is None or not kept.document:
        return
    taken = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "cluster_id": where}
    text = json.dumps({**kept.document, "taken": [taken]}, ensure_ascii=False, indent=1) + "\n"
    try:
        with open(path, "x", encoding="utf-8", opener=private) as out:
            try:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            except OSError:
                os.unlink(path)  # a part of one would look like one
                raise
    except OSError as error:
        raise KcliError(f"nothing was changed: the undo file {path} cannot be written ({error.strerror})") from None


def read_undo_file(path: str) -> JsonObject:
    """The document of an undo file; `-` is stdin. Raises UsageError."""
    try:
        if path == "-":
            return read_object(sys.stdin.read())
        with open(path, encoding="utf-8") as source:
            return read_object(source.read())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except RecursionError:
        raise UsageError(f"{path}: not an undo file (nested too deeply)") from None
    except ValueError as error:
        raise UsageError(f"{path}: not an undo file ({error})") from None
