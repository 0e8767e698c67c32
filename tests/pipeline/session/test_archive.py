"""The class-data archives: the newest are kept, nothing half written is; and a run without one says how Spark starts
sooner."""

from __future__ import annotations

import os
import time
from subprocess import CalledProcessError
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
        Run(frame, Job(), unused, unused).advise(SessionSettings(), code)
        return capfd.readouterr().err

    assert "kcli pipeline doctor" in said()
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
    half, young = (folder / f"spark-4-java-17-x.{n}.part" for n in (1, 4194304))  # no number that Linux gives
    for part, age in ((half, 3700), (young, 30)):
        part.touch()
        os.utime(part, (time.time() - age,) * 2)
    with pytest.raises(AttributeError):
        warm_up.warm_up(SessionSettings())
    assert list(folder.glob("*.part")) == [young], "a container with this cache folder may be writing it"
    assert not list(folder.glob("spark-*-java-*[0-9a-f].jsa"))


JAVA = """#!/bin/sh
echo "$*" >> {folder}/asked
file=${{2#-XX:SharedArchiveFile=}}
case $1 in
-Xshare:dump) echo half > "$file"; [ ! -e {folder}/broken ] || exit 1; echo whole > "$file" ;;
-Xshare:on) grep -q whole "$file" ;;
esac
"""


@pytest.mark.process
def test_a_base_archive_has_its_name_when_it_is_whole_and_one_that_fits_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    java = Java(home=tmp_path / "jlinked", version="17")
    program = java.home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(JAVA.format(folder=tmp_path))
    program.chmod(0o755)
    base = archive.path_of(java, tmp_path).with_suffix(".base.jsa")

    def made() -> tuple[str, int]:
        """What the base is afterwards, and how many dumps there were until then."""
        options, _ = archive.making(java, tmp_path)
        assert options[0] == f"-XX:SharedArchiveFile={base}"
        asked = (tmp_path / "asked").read_text().splitlines()
        dumps = [line for line in asked if "-Xshare:dump" in line]
        assert not any(line.endswith(f"={base}") for line in dumps), "others would take it while it is written"
        return base.read_text().strip(), len(dumps)

    assert made() == ("whole", 1)
    assert made() == ("whole", 1), "another process may be using it"
    base.write_text("of a Java that was installed anew")
    assert made() == ("whole", 2)
    (tmp_path / "broken").touch()
    base.unlink()
    with pytest.raises(CalledProcessError):
        archive.making(java, tmp_path)
    assert not list(base.parent.glob("spark-*")), "a dump that fails leaves nothing"
