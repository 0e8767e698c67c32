"""Spark's classes as the JVM keeps them in memory, made once a machine: some forty JVMs of `make test-spark` start in
half the time. `python -m tests.pipeline.class_archive` makes the archive where there is none yet."""

from __future__ import annotations

from pathlib import Path

from kcli.paths import cache_folder


def make() -> None:
    """As `kcli pipeline doctor` does."""
    from kcli.pipeline.session.archive import path_of
    from kcli.pipeline.session.gateway import spark_home
    from kcli.pipeline.session.java import find_java
    from kcli.pipeline.session.session import SessionSettings
    from kcli.pipeline.session.warm_up import warm_up

    if not path_of(find_java(None), spark_home()).exists():
        warm_up(SessionSettings(name="class archive", memory="2g"))


def share(home: Path) -> None:
    """Have the archives in the cache folder of a home of a test's own."""
    folder = home / ".cache" / "kcli"
    folder.mkdir(parents=True, exist_ok=True)
    for archive in Path(cache_folder()).glob("*.jsa"):
        (folder / archive.name).symlink_to(archive)


if __name__ == "__main__":
    make()
