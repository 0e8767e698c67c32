"""Undo files: what was before a change, on the disk before anything is sent; without it nothing is sent."""

from __future__ import annotations

import os

from kcli.admin.cluster import describe_cluster
from kcli.admin.undo import taken, write
from kcli.cli.admin import say
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.cli.option import Values
    from kcli.model import Cluster


ELSEWHERE = "; --undo-file FILE names another place, --no-undo goes without"


class UndoFile:
    """The undo file of one command line: `--undo-file`, `--no-undo`, or a new one in the user's state folder."""

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

        when = taken((await describe_cluster(cluster)).cluster_id)
        path = write({**document, "taken": when}, name, self._named, hint=ELSEWHERE)
        say(self._values, f"to take this back: {back.format(quote(path))} --execute")
