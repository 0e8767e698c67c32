"""The class-data archives: the newest are kept, nothing half written is; and a run without one says how Spark starts
sooner."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from kcli.cli.commands.pipeline.session.drive import Run
from kcli.cli.commands.pipeline.session.job import Job
from kcli.pipeline.session import archive, warm_up
from kcli.pipeline.session.java import Java
from kcli.pipeline.session.session import SessionSettings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Java:
    """One with its base archive; the machine need not have any."""
    base = tmp_path / "java" / "lib" / "server" / "classes.jsa"
    base.parent.mkdir(parents=True)
    base.touch()
    found = Java(home=tmp_path / "java", version="17")
    monkeypatch.setattr(warm_up, "find_java", lambda given=None: found)
    return found


def test_a_machine_without_an_archive_is_shown_how_spark_starts_sooner(
    java: Java, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")
    from kcli.pipeline.session.gateway import spark_home

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def said(code: int = 0, **more: Any) -> str:
        frame: Any = SimpleNamespace(
            **{"quiet": False, "remote": None, "connection": SimpleNamespace(verbose=True), **more}
        )
        unused: Any = None
        Run(frame, Job(), unused, unused, unused).advise(SessionSettings(), code)
        return capfd.readouterr().err

    assert "kcli pipeline warmup" in said()
    assert said(code=1) == said(quiet=True) == said(remote="sc://h") == ""
    with monkeypatch.context() as under_spark_submit:
        under_spark_submit.setenv("PYSPARK_GATEWAY_PORT", "1")
        assert said() == ""
    path = archive.path_of(java, spark_home())
    path.parent.mkdir()
    path.touch()
    assert said() == ""


def test_the_newest_archives_are_kept(tmp_path: Path) -> None:
    archives = [tmp_path / f"spark-4.3.0-java-{n}-x.jsa" for n in range(5)]
    for n, path in enumerate(archives):
        path.touch()
        path.with_suffix(".base.jsa").touch()
        for one in (path, path.with_suffix(".base.jsa")):
            os.utime(one, (n, n))
    os.utime(archives[0], (9, 9))
    archive.prune(archives[1], kept=3)
    kept = {archives[n].name for n in (0, 1, 4)}
    assert {path.name for path in tmp_path.glob("*.jsa") if ".base" not in path.name} == kept
    assert len(list(tmp_path.glob("*.base.jsa"))) == 3


class Failing:
    """A session whose work fails, and whose JVM writes the archive all the same."""

    def __init__(self, settings: SessionSettings, *, options: tuple[str, ...], patience: float) -> None:
        self.log = ""
        self._part = options[-1].removeprefix("-XX:ArchiveClassesAtExit=")

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        open(self._part, "w").close()


def test_a_warm_up_that_fails_or_was_killed_leaves_nothing(
    java: Java, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(warm_up, "Session", Failing)
    folder = tmp_path / "kcli"
    folder.mkdir()
    (folder / "spark-4-java-17-x.4194304.part").touch()  # of a process number that Linux does not give
    mine = folder / f"spark-4-java-17-x.{os.getpid()}.part"
    mine.touch()
    with pytest.raises(AttributeError):
        warm_up.warm_up(SessionSettings())
    assert list(folder.glob("*.part")) == [mine], "its process runs"
    assert not list(folder.glob("spark-*-java-*[0-9a-f].jsa"))
