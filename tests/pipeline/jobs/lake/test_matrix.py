"""Six of the runs of the kill matrix (`python -m tests.pipeline.jobs.lake.matrix`), on the sandbox."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.pipeline.jobs.lake.matrix import FEW, SPARK, Bench, Case, Run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.pipeline.topics import Topics

pytestmark = [pytest.mark.spark, pytest.mark.process, pytest.mark.timeout(600)]
pytest.importorskip("duckdb", reason="pip install --group dev")
pytest.importorskip("deltalake", reason="pip install 'kcli-kafka[delta]'")
pytest.importorskip("pyiceberg", reason="pip install 'kcli-kafka[iceberg]'")


@pytest.fixture(scope="module", autouse=True)
def reader() -> Iterator[None]:
    yield
    SPARK.close()


@pytest.mark.parametrize("case", FEW, ids=str)
def test_the_table_is_the_topic(case: Case, topics: Topics, tmp_path: Path) -> None:
    word = Run(Bench(topics, tmp_path), case, 0, random.Random(str(case))).play()
    assert word == "equal" or case.fault in ("restored", "zombies")
