"""A pipeline that ends itself by SIGKILL at a point of a batch: python -m tests.pipeline.jobs.lake.killed POINT WORDS…

Points of an Iceberg table: `files` before a file is written, `commit` between the files, or the rows of a merge, and
the commit, `checkpoint` between the commit and Spark's checkpoint. `pause` does not kill: it waits before the commit
for a file `go` in the working folder, when it has written a file `waiting`. Of a folder of files: `folder` before it
gets its name, `swap` when the folder that it replaces has lost its own. `never` is no point.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from kcli.cli.main import main
from kcli.pipeline.jobs.files.folder import Folder
from kcli.pipeline.jobs.lake import table
from kcli.pipeline.jobs.lake.iceberg import IcebergTable
from kcli.pipeline.sink import files

PATIENCE = 200.0


def die(*_: Any, **__: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(point: str) -> None:
    """Let the point kill this process."""
    if point == "files":
        setattr(files, "written", die)  # noqa: B010  # of another type
    if point == "commit":
        setattr(IcebergTable, "_commit", die)  # noqa: B010
    if point == "checkpoint":
        setattr(table.Batches, "done", die)  # noqa: B010
    if point == "pause":
        commit = IcebergTable._commit

        def wait_and_commit(*given: Any) -> Any:
            Path("waiting").touch()
            deadline = time.monotonic() + PATIENCE
            while not Path("go").exists() and time.monotonic() < deadline:
                time.sleep(0.1)
            return commit(*given)

        setattr(IcebergTable, "_commit", wait_and_commit)  # noqa: B010
    if point == "folder":
        setattr(Folder, "settle", die)  # noqa: B010
    if point == "swap":
        rename = Path.rename

        def rename_and_die(path: Path, target: Path) -> Any:
            rename(path, target)
            die()

        setattr(Path, "rename", rename_and_die)  # noqa: B010


if __name__ == "__main__":
    arm(sys.argv[1])
    sys.exit(main(["pipeline", *sys.argv[2:]]))
