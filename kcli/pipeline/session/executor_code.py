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
        one
        for package in ("kcli", "pyspark_kcli")
        for one in (root / package).rglob("*")
        if one.suffix in (".py", ".so", ".pyd", ".typed", ".tcss") and "__pycache__" not in one.parts
    )
    newest = max(one.stat().st_mtime_ns for one in files)
    made = Path(cache_folder()) / f"kcli-code-{newest}-{len(files)}.zip"
    if not made.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        part = made.with_suffix(f".{os.getpid()}")
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as out:
            for one in files:
                out.write(one, one.relative_to(root).as_posix())
        part.replace(made)
        for old in made.parent.glob("kcli-code-*.zip"):
            if old.stat().st_mtime < made.stat().st_mtime - 86_400:
                old.unlink(missing_ok=True)
    return made
