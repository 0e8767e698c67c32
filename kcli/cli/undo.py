"""The undo file of one command line: `--undo-file`, `--no-undo`, or a new one in the user's state folder."""

from __future__ import annotations

import os

from kcli.admin import undo
from kcli.admin.cluster import describe_cluster
from kcli.cli.admin import say
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.cli.option import Values
    from kcli.model import Cluster


class UndoFile:
    """What the options of a line say about it."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._named: str | None = values["undo_file"]

    def check(self) -> None:
        """Raises UsageError for options that contradict each other, and for a file that is there already."""
        if self._named is None:
            return
        if self._values["no_undo"]:
            raise UsageError("--undo-file and --no-undo exclude each other")
        if not self._values["dry_run"] and os.path.lexists(self._named):
            raise UsageError(f"--undo-file {self._named}: there is a file already; name a new one")

    async def keep(self, cluster: Cluster, name: str, document: dict[str, Any], back: str) -> None:
        """Write it, and say the command that takes the change back: `back`, with {} for the file. Raises NoUndo."""
        if self._values["no_undo"]:
            return
        from shlex import quote

        taken = undo.taken((await describe_cluster(cluster)).cluster_id)
        path = undo.write(
            {**document, "taken": taken},
            name,
            self._named,
            hint="; --undo-file FILE names another place, --no-undo goes without",
        )
        say(self._values, f"to take this back: {back.format(quote(path))} --execute")
