"""A pipeline into a Delta table that ends itself by SIGKILL: python -m tests.pipeline.jobs.lake.killed_delta POINT …

Points: `commit` when the rows are there and the table's writer was not asked yet, `checkpoint` between the commit and
Spark's checkpoint, `schema` between a version of wider types and its batch, `never`.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from kcli.cli.main import main
from kcli.pipeline.jobs.lake import delta
from kcli.pipeline.jobs.lake.delta_spark import SparkDeltaTable
from kcli.pipeline.jobs.lake.table import Batches


def die(*_: Any, **__: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(point: str) -> None:
    """Let the point kill this process."""
    if point == "commit":
        setattr(delta.DeltaTable, "_written", die)  # noqa: B010  # of another type
        setattr(delta, "merge_rows", die)  # noqa: B010
        setattr(SparkDeltaTable, "_next", die)  # noqa: B010
    if point == "checkpoint":
        setattr(Batches, "done", die)  # noqa: B010
    if point == "schema":
        wider = delta.DeltaTable._wider

        def widen_and_die(*given: Any) -> Any:
            wider(*given)
            die()

        setattr(delta.DeltaTable, "_wider", widen_and_die)  # noqa: B010


if __name__ == "__main__":
    arm(sys.argv[1])
    sys.exit(main(["pipeline", *sys.argv[2:]]))
