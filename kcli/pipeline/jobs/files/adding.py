"""Checks that files added to a folder have the same format, columns and partitioning. Spark adds any files, and a
folder of mixed files cannot be read, or is read with missing columns."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from kcli.errors import UsageError
from kcli.pipeline.jobs.files.csv import USUAL as CSV_USUAL

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMS = re.compile(r"\.(parquet|orc|json|csv)(\.[a-z0-9]+)?$")
GLOB = re.compile(r"([\\{}\[\]*?])")
"""Characters that Spark takes for a pattern in a path."""
ROWS = 100
"""Rows of a JSON file that are examined."""
KINDS = ((bool, "boolean"), (int | float, "number"), (str, "text"), (list, "list"), (dict, "object"))
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


def files_in(root: str) -> Iterator[str]:
    """Iterate over the data files in a local folder, as relative paths."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(folder for folder in folders if not folder.startswith(("_", ".")))
        for name in sorted(names):
            if not name.startswith(("_", ".")):
                yield os.path.relpath(os.path.join(folder, name), root)


def check_files(place: str, there: Sequence[str], form: str, partition_by: Sequence[str]) -> None:
    """Raise UsageError if files of this form do not match the existing ones (relative paths)."""
    for file in there:
        known = FORMS.search(file)
        if known is not None and known[1] != form:
            raise UsageError(
                f"{place} has {known[1]} files, and {form} files cannot be added to them; use a separate folder"
            )
        if known is None:
            continue
        by = [unquote(part.partition("=")[0]) for part in file.split("/")[:-1] if "=" in part]
        if by != list(partition_by):
            differs = UsageError(
                f"{place} is partitioned by {', '.join(by) or 'no column'}: partition by the same columns"
            )
            raise differs.hinted("partition-by")


def check_columns(frame: DataFrame, target: str, form: str, partition_by: Sequence[str]) -> None:
    """Raise UsageError if the columns differ from those of the files in the folder, before anything is written."""
    spark = frame.sparkSession
    place = target.removeprefix("file://")
    if "://" in place or place.startswith("hdfs:"):
        there = _listed(spark, target)
        check_files(target, there, form, partition_by)
    else:
        there = list(files_in(place))
    there = [one for one in there if FORMS.search(one)]
    ours = {field.name: field.dataType.simpleString() for field in frame.schema if field.name not in partition_by}
    if form == "json":
        ours = {name: kind_of(kind) for name, kind in ours.items()}
    for file in there[:1] if form in ("parquet", "orc") else there[-3:]:
        theirs = _columns(spark, GLOB.sub(r"\\\1", f"{target.rstrip('/')}/{file}"), form)
        if form == "csv":
            ours = dict.fromkeys(ours, "text")
        if theirs:
            compare(place, theirs, ours, form)


def compare(place: str, theirs: Mapping[str, str], ours: Mapping[str, str], form: str) -> None:
    """Raise UsageError for the first column that differs. JSON omits nulls, so an additional column there is not a
    difference."""
    names = theirs if form == "json" else {**theirs, **ours}
    wrong = next((name for name in names if theirs.get(name) != ours.get(name)), None)
    if wrong is not None:
        raise UsageError(
            f"{place} has files with other columns: {wrong} is {theirs.get(wrong, 'missing')} there and "
            f"{ours.get(wrong, 'missing')} here; use a separate folder"
        )
    if form == "csv" and list(theirs) != list(ours):
        raise UsageError(
            f"{place} has files with the columns {', '.join(theirs)}, in this order: select them in the same order"
        ).hinted("select")


def kind_of(type_name: str) -> str:
    """Return the JSON type for a Spark type."""
    name = re.split(r"[(<]", type_name)[0]
    if name in ("struct", "map", "variant"):
        return "object"
    if name == "array":
        return "list"
    return "number" if name in NUMBERS else "boolean" if name == "boolean" else "text"


def _columns(spark: SparkSession, file: str, form: str) -> dict[str, str]:
    """Return the columns of one file and their types; empty if unknown."""
    if form == "json":
        columns: dict[str, str] = {}
        for row in spark.read.text(file).limit(ROWS).collect():
            columns |= _kinds(row[0])
        return columns
    if form == "csv":
        return dict.fromkeys(spark.read.options(**CSV_USUAL).csv(file).columns, "text")
    return {field.name: field.dataType.simpleString() for field in spark.read.format(form).load(file).schema}


def _kinds(line: str) -> dict[str, str]:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(row, dict):
        return {}
    return {
        name: next(word for kind, word in KINDS if isinstance(value, kind))
        for name, value in row.items()
        if value is not None
    }


def _listed(spark: SparkSession, target: str) -> list[str]:
    """Return the data files of a remote folder, as relative paths; empty if the folder does not exist."""
    from pyspark.errors import AnalysisException

    root = target.rstrip("/") + "/"
    try:
        files = spark.read.text(target).inputFiles()
    except AnalysisException as problem:
        if "PATH_NOT_FOUND" in str(problem):
            return []
        raise
    return sorted(unquote(file).split(root, 1)[-1] for file in files)
