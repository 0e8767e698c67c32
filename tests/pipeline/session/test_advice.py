"""A run on a machine that has no class-data archive says how Spark starts sooner."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from kcli.cli.commands.pipeline.session.drive import Run
from kcli.cli.commands.pipeline.session.job import Job
from kcli.pipeline.session import archive
from kcli.pipeline.session.session import SessionSettings

if TYPE_CHECKING:
    from pathlib import Path


def test_a_machine_without_an_archive_is_shown_how_spark_starts_sooner(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")
    from kcli.pipeline.session.gateway import spark_home
    from kcli.pipeline.session.java import find_java

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
    path = archive.path_of(find_java(), spark_home())
    path.parent.mkdir()
    path.touch()
    assert said() == ""
