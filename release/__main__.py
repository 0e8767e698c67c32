"""`python -m release [--twice] [FOLDER]`: source, wheels, a list of what they depend on (SBOM) and SHA256SUMS.

`--twice` builds all of it a second time and compares: exit code 1 when a file differs.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from release.sbom import sbom
from release.wheels import BUNDLED, ROOT, BuildFailed, checked, source, wheels


def build(target: Path) -> dict[str, str]:
    """SHA-256 by file name of what was made in `target`, which holds nothing else afterwards."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        archive = source(target)
        made = [archive, *wheels(archive, target, Path(folder))]
        checked(made)
        made.append(sbom(made[1], target, Path(folder)))
        made.append(Path(shutil.copy(BUNDLED, target / "requirements.txt")))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in made}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m release")
    parser.add_argument("--twice", action="store_true", help="build a second time and compare")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    options = parser.parse_args(arguments)
    sums = build(options.folder)
    (options.folder / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    for name, digest in sums.items():
        print(f"{digest[:16]}  {(options.folder / name).stat().st_size:>9,}  {name}")
    if options.twice:
        with tempfile.TemporaryDirectory() as folder:
            again = build(Path(folder) / "dist")
        if differing := [name for name in sums if again.get(name) != sums[name]]:
            print(f"not reproducible: {', '.join(differing)}", file=sys.stderr)
            return 1
        print(f"a second build gave the same {len(sums)} files")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BuildFailed as error:
        sys.exit(str(error))
