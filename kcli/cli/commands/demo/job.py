"""The main job of `kcli demo` while its dashboard is open.

`python -m kcli.cli.commands.demo.job HOST:PORT FOLDER [FILE]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kcli.cli.commands.demo.command import main_job
from kcli.errors import KcliError


def main(bootstrap: str, folder: str, file: str = "") -> int:
    """1 where a step failed; its sentence is the last line that is printed."""
    try:
        main_job(bootstrap, Path(file) if file else None, Path(folder))
    except KcliError as problem:
        print(f"kcli: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
