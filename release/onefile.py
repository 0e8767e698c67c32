"""`python -m release.onefile WHEEL FILE`: kcli and its dependencies in one file for a Python of the wheel's version.

Measured for `--version` (wall time; a plain install takes 23 ms): shiv 99 ms in 19 MB; PyInstaller 571 ms in 41 MB as
one file, 77 ms in 95 MB as a folder; pex 2 built a file that could not resolve its own dependencies. shiv unpacks once,
into ~/.shiv or SHIV_ROOT.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from release.wheels import BuildFailed, commit_time, pinned, run


def onefile(wheel: Path, target: Path) -> Path:
    """An executable zip archive; its first line asks for the Python that the wheel was compiled for."""
    compiled = re.search(r"-cp(\d)(\d+)-", wheel.name)
    python = f"python{compiled[1]}.{compiled[2]}" if compiled else "python3"
    with tempfile.TemporaryDirectory() as work:
        run(
            sys.executable, "-m", "shiv", "--reproducible", "--console-script", "kcli", "--output-file", target,
            "--python", f"/usr/bin/env {python}", "--require-hashes", "-r", pinned(wheel, Path(work)),
            SOURCE_DATE_EPOCH=commit_time(),
        )  # fmt: skip
    return target


if __name__ == "__main__":
    try:
        print(onefile(Path(sys.argv[1]), Path(sys.argv[2])))
    except BuildFailed as error:
        sys.exit(str(error))
