"""A pipeline that ends itself by SIGKILL at a point of a batch: python -m tests.pipeline.jobs.lake.killed POINT WORDS…

Points: `files` before a file is written, `commit` between the files and the commit, `checkpoint` between the commit and
Spark's checkpoint, `schema` between the change of a Delta table's columns and its batch, `mark` between the commit and
the end of a batch's mark, `folder` before a folder gets its name, `swap` when the folder that it replaces has lost its
own, `never`.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from kcli.cli.main import main
from kcli.pipeline.jobs.files.folder import Folder
from kcli.pipeline.jobs.lake import committer
from kcli.pipeline.jobs.lake.delta import DeltaTable


def die(*_: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(point: str) -> None:
    """Let the point kill this process."""
    put, written = committer.put, committer.written
    if point == "files":
        setattr(committer, "written", die)  # noqa: B010  # of another type
    if point == "commit":

        def then_die(*given: Any) -> Any:
            written(*given)
            die()

        setattr(committer, "written", then_die)  # noqa: B010
    if point == "schema":
        evolved = DeltaTable._evolved

        def evolve_and_die(*given: Any) -> Any:
            evolved(*given)
            die()

        setattr(DeltaTable, "_evolved", evolve_and_die)  # noqa: B010
    if point == "mark":
        setattr(committer.Attempt, "__exit__", die)  # noqa: B010
    if point == "folder":
        setattr(Folder, "settle", die)  # noqa: B010
    if point == "swap":
        rename = Path.rename

        def rename_and_die(path: Path, target: Path) -> Any:
            rename(path, target)
            die()

        setattr(Path, "rename", rename_and_die)  # noqa: B010
    if point == "checkpoint":

        def put_and_die(*given: Any, **named: Any) -> Any:
            put(*given, **named)
            die()

        setattr(committer, "put", put_and_die)  # noqa: B010


if __name__ == "__main__":
    arm(sys.argv[1])
    sys.exit(main(["pipeline", *sys.argv[2:]]))
