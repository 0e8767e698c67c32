"""The schema of a stream's first run: when it holds, and where it cannot be kept. No Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kcli.cli.commands.pipeline.source.pinned import Pinned
from kcli.errors import UsageError

NO_SPARK: Any = None  # what needs no comparison asks none


def kept(checkpoint: Path, schema: str) -> Path:
    """The file that a first run leaves."""
    first = Pinned(checkpoint)
    assert first.settled(NO_SPARK, "t", schema, "") == schema
    first.keep()
    assert isinstance(first.path, Path)
    return first.path


def test_the_first_runs_schema_holds_as_soon_as_a_batch_was_begun(tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    kept(checkpoint, "id BIGINT")
    assert Pinned(checkpoint).settled(NO_SPARK, "t", "id STRING", "") == "id STRING"  # nothing was written with it
    (checkpoint / "offsets").mkdir(parents=True)
    (checkpoint / "offsets" / "0").touch()
    assert Pinned(checkpoint).settled(NO_SPARK, "t", None, "") == "id BIGINT"
    assert Pinned(checkpoint).settled(NO_SPARK, "t", None, "id STRING") == "id STRING"  # what is given goes first
    assert Pinned(checkpoint).settled(NO_SPARK, "other", "n INT", "") == "n INT"


def test_a_file_that_is_no_schema_is_refused(tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    file = kept(checkpoint, "id BIGINT")
    (checkpoint / "offsets").mkdir(parents=True)
    (checkpoint / "offsets" / "0").touch()
    for text in ("{", "[1]", "3"):
        file.write_text(text)
        with pytest.raises(UsageError, match="is not the schema of a pipeline"):
            Pinned(checkpoint)


def test_a_schema_that_cannot_be_kept_has_to_be_given() -> None:
    elsewhere = Pinned("hdfs://name/checkpoint")
    with pytest.raises(UsageError, match="--value-schema is needed: the schema of the first run cannot be stored"):
        elsewhere.settled(NO_SPARK, "t", "id BIGINT", "")
    assert elsewhere.settled(NO_SPARK, "t", None, "id BIGINT") == "id BIGINT"
    elsewhere.keep()
    assert isinstance(elsewhere.path, Path)
    assert not elsewhere.path.exists()
