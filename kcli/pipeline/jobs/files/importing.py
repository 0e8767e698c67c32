"""Reads files as frames of records: their format, which columns are key and value, and the order."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kcli.errors import OPTION, UsageError
from kcli.pipeline.jobs.files import csv
from kcli.pipeline.jobs.files.folder import DELTA
from kcli.pipeline.jobs.records import as_records

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

SUFFIXES = {
    ".parquet": "parquet",
    ".orc": "orc",
    ".json": "json",
    ".ndjson": "json",
    ".jsonl": "json",
    ".csv": "csv",
    ".txt": "text",
    ".log": "text",
}
PACKED = (".gz", ".zst", ".bz2", ".snappy", ".lz4", ".deflate")


def files_of(places: Sequence[str]) -> list[Path]:
    """Return the local data files that paths, folders and patterns select. Raises UsageError for a path that selects
    none."""
    files: list[Path] = []
    for place in (place for place in places if "://" not in place):
        paths = [Path(name) for name in sorted(glob.glob(place))]
        if not paths:
            raise UsageError(f"{place}: file or folder not found")
        for path in paths:
            inside = sorted(path for path in path.rglob("*") if path.is_file()) if path.is_dir() else [path]
            files += [file for file in inside if not hidden(file, path)]
    return files


def hidden(file: Path, root: Path) -> bool:
    """Whether Spark skips it: names that begin with . or _, except partition folders such as `_day=1`."""
    parts = file.relative_to(root).parts if file != root else ()
    return any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in parts)


def form_of(places: Sequence[str], files: Sequence[Path]) -> str:
    """Return the format, by file names. Raises UsageError if they are inconclusive or mixed."""
    if any(os.path.isdir(os.path.join(place, DELTA)) for place in places):
        return "delta"
    named = [*files, *(Path(place) for place in places if "://" in place)]
    forms = {SUFFIXES.get(_suffix(name)) for name in named}
    if len(forms) == 1 and (form := forms.pop()) is not None:
        return form
    shown = ", ".join(sorted(form for form in forms if form)) if forms else ""
    named_so = f"{shown} and others" if shown else "nothing"
    missing = UsageError(f"file_format is required for {places[0]}: its file names indicate {named_so}")
    raise missing.hinted(OPTION)


def _suffix(path: Path) -> str:
    return Path(path.stem).suffix if path.suffix in PACKED else path.suffix


def count_of(form: str, files: Sequence[Path]) -> int | None:
    """Return the number of rows, if the files contain it."""
    if form not in ("parquet", "orc"):
        return None
    if form == "parquet":
        from pyarrow import parquet

        return sum(int(parquet.read_metadata(file).num_rows) for file in files)
    from pyarrow import orc

    return sum(int(orc.ORCFile(file).nrows) for file in files)


def load(
    spark: SparkSession,
    form: str,
    places: Sequence[str],
    reader: Mapping[str, str],
    *,
    streaming: bool,
    texts: Collection[str] = (),
) -> DataFrame:
    """Return the files as a frame. A stream reads one folder, with the schema of its current content. `texts` are CSV
    columns that become keys and values, in which 007 is not a number."""
    if form == "delta-files":
        from kcli.pipeline.jobs.files import delta

        return delta.load(spark, Path(places[0]))
    options = {**(_csv(places) if form == "csv" else {}), **reader}
    where = [place if "://" in place else os.path.abspath(place) for place in places]
    if form != "csv" and not streaming:
        return spark.read.format(form).options(**options).load(where if len(where) > 1 or form != "delta" else where[0])
    schema = spark.read.format(form).options(**options).load(where if form == "csv" else where[0]).schema
    if form == "csv":
        schema = _as_text(schema, texts)
    if not streaming:
        return spark.read.format(form).options(**options).schema(schema).load(where)
    return spark.readStream.format(form).options(**options).schema(schema).load(where[0])


def _csv(places: Sequence[str]) -> dict[str, str]:
    """Return the options for reading CSV, which --reader overrides."""
    end = csv.line_end(files_of(places)) if not any("://" in place for place in places) else ""
    return csv.READ | {"inferSchema": "true"} | ({"lineSep": end} if end else {})


def _as_text(schema: StructType, texts: Collection[str]) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([StructField(one.name, StringType()) if one.name in texts else one for one in schema.fields])


def records(
    frame: DataFrame,
    *,
    key: str | None,
    value: str | None,
    whole: bool,
    partitions: bool,
    timestamps: bool,
    typed: Collection[str] = (),
) -> DataFrame:
    """Convert rows to records. `whole` is the row as JSON; for a value of `typed`, with a registry's schema, it is a
    struct, used if no column is the value. Raises UsageError for a missing column."""
    from pyspark.sql import functions as f

    there = frame.columns
    _check(there, key=key, value=value, partitions=partitions, timestamps=timestamps)
    by_schema = "value" in typed
    whole = whole or (by_schema and value is None and "value" not in there)
    if not whole and value is None and "value" not in there:
        raise UsageError(f"no column is chosen as the value; columns: {', '.join(there)}").hinted("value-column")
    if partitions and not frame.isStreaming:
        frame = frame.repartition("partition")
        frame = frame.sortWithinPartitions("partition", "offset") if "offset" in there else frame
    row = f.struct(*there)
    columns = [((row if by_schema else f.to_json(row)) if whole else f.col(f"`{value or 'value'}`")).alias("value")]
    if key is not None or ("key" in there and not whole):
        columns.append(f.col(f"`{key or 'key'}`").alias("key"))
    columns += [f.col(name) for name, wanted in (("partition", partitions), ("timestamp", timestamps)) if wanted]
    if "headers" in there and not whole:
        columns.append(f.col("headers"))
    keep = ("key", "value", "partition", "timestamp", "headers")
    return as_records(frame.select(*columns), keep=keep, typed=typed)


def _check(there: Sequence[str], *, key: str | None, value: str | None, partitions: bool, timestamps: bool) -> None:
    """Raise UsageError for a missing column."""
    for option, name in (("key_column", key), ("value_column", value)):
        if name is not None and name not in there:
            raise UsageError(f"{option} {name}: unknown column; the columns are {', '.join(there)}").hinted(OPTION)
    for option, name, wanted in (
        ("keep_partitions", "partition", partitions),
        ("keep_timestamps", "timestamp", timestamps),
    ):
        if wanted and name not in there:
            raise UsageError(f"{option} requires a column {name}; columns: {', '.join(there)}").hinted(OPTION)
