"""Undo files of the command line: written before a change, read by the command that takes it back.

What was there before goes to `--undo-file`, or to a new file in the user's state folder, or with `--no-undo` nowhere.
Each subject names its schema (`kcli.quotas.undo/1`) and its rows; the options, the errors and the command are here,
writing the file to the disk is in `kcli/admin/undo.py`.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager

from kcli.admin import undo
from kcli.admin.cluster.cluster import cluster_id
from kcli.cli.runtime.answer import say
from kcli.errors import UsageError
from kcli.text.json_object import read_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kcli.cli.parsing.groups import UndoOptions
    from kcli.model import Cluster
    from kcli.text.json_object import JsonObject


class UndoFile:
    """The undo file of one command line."""

    def __init__(self, options: UndoOptions) -> None:
        self._options = options
        self._named: str | None = options.undo_file

    def check(self) -> None:
        """Raises UsageError for options that contradict each other, and for a file that is there already."""
        if self._named is None:
            return
        if self._options.no_undo:
            raise UsageError("--undo-file and --no-undo exclude each other")
        if not self._options.plan_only and os.path.lexists(self._named):
            raise UsageError(f"--undo-file {self._named}: the file exists; name a new one")

    async def keep(self, cluster: Cluster, name: str, document: Mapping[str, object], back: str) -> None:
        """Write it, and say the command that takes the change back: `back`, with {} for the file. Raises NoUndo."""
        if not self._options.no_undo:
            self.keep_of(await cluster_id(cluster), name, document, back)

    def keep_of(self, whose: str | None, name: str, document: Mapping[str, object], back: str) -> None:
        """The same for what is in no cluster: `whose` is the cluster's id, or the address of a registry."""
        if self._options.no_undo:
            return
        from shlex import quote

        taken = undo.taken(whose)
        path = undo.write(
            {**document, "taken": taken},
            name,
            self._named,
            hint="; --undo-file FILE names another file, --no-undo writes none",
        )
        say(self._options, f"to undo this: {back.format(quote(path))} --execute")


@contextmanager
def undo_document(path: str, noun: str, *schemas: str) -> Iterator[JsonObject]:
    """The document of an undo file of one of these schemas, for the body to take apart; `-` is stdin. Raises UsageError
    for a file that cannot be read or is no undo file, and for a ValueError of the body."""
    try:
        if path == "-":
            text = sys.stdin.read()
        else:
            with open(path, encoding="utf-8") as source:
                text = source.read()
        whole = read_object(text)
        if whole.text("schema") not in schemas:
            raise ValueError(f"its schema is {whole.text('schema')}, expected {' or '.join(schemas)}")
        yield whole
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except RecursionError:
        raise UsageError(f"{path}: not an undo file of {noun} (nested too deeply)") from None
    except ValueError as error:
        raise UsageError(f"{path}: not an undo file of {noun} ({error})") from None
