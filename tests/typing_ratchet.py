"""`python -m tests.typing_ratchet`: mypy over the tests; what is untyped today may become less, never more.

`typing_ratchet.txt` has the number of errors each file may have; a file that is not in it may have none. Exit code 1
when a file has more errors than it may. `--update` writes the numbers down when none has more.
"""

from __future__ import annotations

import collections
import re
import subprocess
import sys
from pathlib import Path

ALLOWED = Path(__file__).with_suffix(".txt")
SHOWN = 40  # lines of mypy's
ERROR = re.compile(r"^(tests/[^:]+):\d+: error: ", re.MULTILINE)


def main(arguments: list[str]) -> int:
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "-p", "tests", "--no-error-summary", "--hide-error-context"],
        stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    found = collections.Counter(ERROR.findall(run.stdout))
    if run.returncode not in (0, 1):
        print(run.stdout)
        return run.returncode
    allowed = _allowed()
    more = {file: count for file, count in found.items() if count > allowed.get(file, 0)}
    fewer = [file for file, count in allowed.items() if found[file] < count]
    if "--update" in arguments and not (more and allowed):
        ALLOWED.write_text(
            "".join(f"{count} {file}\n" for file, count in sorted(found.items(), key=lambda row: row[0]))
        )
        return 0
    lines = [line for line in run.stdout.splitlines() if line.split(":")[0] in more]
    print(*lines[:SHOWN], sep="\n", end="\n" if lines else "")
    for file, count in more.items():
        print(f"{file}: {count} errors, {allowed.get(file, 0)} are allowed")
    for file in fewer:
        print(f"{file}: fewer errors than it may have; run `python -m tests.typing_ratchet --update`")
    return 1 if more else 0


def _allowed() -> dict[str, int]:
    rows = ALLOWED.read_text().splitlines() if ALLOWED.exists() else []
    return {file: int(count) for count, file in (row.split(" ", 1) for row in rows)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
