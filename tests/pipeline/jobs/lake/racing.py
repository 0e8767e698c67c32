"""A driver that races another for the batches of one checkpoint: python -m … WAREHOUSE CATALOG TABLE ROUNDS WHICH.

For each batch it writes a file of its own and commits it; a line of JSON says whether it won.
"""

from __future__ import annotations

import json
import sys
import time
from uuid import uuid4

from kcli.errors import KcliError
from kcli.pipeline.jobs.lake.catalogs import place_of
from kcli.pipeline.jobs.lake.iceberg import IcebergTable
from kcli.pipeline.jobs.lake.table import NotCommitted
from tests.pipeline.jobs.lake.test_commits import batch, entries

PATIENCE = 180.0


def main(warehouse: str, catalog: str, name: str, rounds: int, which: int) -> None:
    table = IcebergTable(name, place_of(warehouse or None, catalog or None))
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        last = table.last("q")
        epoch = 0 if last is None else last.epoch + 1
        if epoch == rounds:
            return
        rows = [which * 100_000 + epoch * 100 + n for n in range(3)]
        files = entries(table, rows)
        time.sleep(0.15 - time.time() % 0.15)  # both at once
        try:
            table.add(files, "append", batch(epoch).replace(id=uuid4().hex))
            won = True
        except NotCommitted:
            won = False
        print(json.dumps({"epoch": epoch, "rows": rows, "won": won}), flush=True)
    raise KcliError("the race takes too long")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
