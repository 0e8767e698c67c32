"""kcli for executors on other machines: an archive that Spark unpacks into each executor's working folder.

Executors need numpy and pyarrow in their own Python. The compiled record core is in it and used by the Python it was
made for; another one takes the core's twin in plain Python.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

from kcli.paths import cache_folder

PLACE = "kcli-code"
"""What the archive is unpacked as."""


ARCHIVES, PATH = "spark.archives", "spark.executorEnv.PYTHONPATH"


def conf(given: Mapping[str, str]) -> dict[str, str]:
    """Spark's settings that bring kcli to the executors, beside the archives and the path that are given. An archive
    that is given under kcli's own name stays as it is."""
    archives, path = given.get(ARCHIVES, ""), given.get(PATH, "")
    if not any(one.strip().endswith(f"#{PLACE}") for one in archives.split(",")):
        archives = ",".join(filter(None, [archives, f"{packed()}#{PLACE}"]))
    return {ARCHIVES: archives, PATH: ":".join(filter(None, [f"./{PLACE}", path]))}


def packed() -> Path:
    """The archive, in the cache folder; made when one of kcli's files is newer than it."""
    import kcli

    root = Path(kcli.__file__).parent.parent
    files = sorted(
        path
        for package in ("kcli", "pyspark_kcli")
        for path in (root / package).rglob("*")
        if path.suffix in (".py", ".so", ".pyd", ".typed", ".tcss") and "__pycache__" not in path.parts
    )
    newest = max(file.stat().st_mtime_ns for file in files)
    path = Path(cache_folder()) / f"kcli-code-{newest}-{len(files)}.zip"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as out:
            for file in files:
                out.write(file, file.relative_to(root).as_posix())
        part.replace(path)
        for old in path.parent.glob("kcli-code-*.zip"):
            if old.stat().st_mtime < path.stat().st_mtime - 86_400:
                old.unlink(missing_ok=True)
    return path
