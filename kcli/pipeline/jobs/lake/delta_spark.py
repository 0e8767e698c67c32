"""A Delta table, written by Delta's own writer in Spark: on any cluster, in any store that Spark reaches.

Delta silently ignores a write if the transaction of its application is not newer than the table's. So after each write
of a stream its commit is looked up in the table; a missing one was ignored.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from kcli.errors import KcliError, UsageError
from kcli.pipeline.jobs.lake.delta import fits, sentence
from kcli.pipeline.jobs.lake.delta_history import (
    FIRST,
    Last,
    Version,
    check_next,
    compaction_due,
    has,
    last_of,
    newest_first,
    quoted,
)
from kcli.pipeline.jobs.lake.merging.latest import DELETED
from kcli.pipeline.jobs.lake.table import NotCommitted, Written
from kcli.pipeline.sink.storage import as_s3, as_s3a, in_s3, storage_here

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.types import StructType

    from kcli.pipeline.jobs.lake.merging.latest import Merge
    from kcli.pipeline.jobs.lake.table import Commit

METADATA = "spark.databricks.delta.commitInfo.userMetadata"
APPLICATION, NUMBER = "spark.databricks.delta.write.txnAppId", "spark.databricks.delta.write.txnVersion"
FILE_SIZE = "spark.databricks.delta.optimize.maxFileSize"
WIDENING = "delta.enableTypeWidening"
MAKING = {"generatedColumns", "identityColumns", "allowColumnDefaults"}
"""Features of tables that generate values of columns which rows lack."""
REFUSED = re.compile(r"\bDELTA_(?!STATE_RECOVER|LOG_)\w+|io\.delta\.exceptions\.|InvariantViolationException")
"""Errors of Delta for which it commits nothing."""


class SparkDeltaTable:
    """A table in a folder, in s3://BUCKET/PATH, or at another Spark URI; it need not exist yet. `size` is in bytes, of
    the files that `compact` creates; 0 leaves it to Delta."""

    def __init__(self, place: str, *, by: Sequence[str] = (), compression: str = "zstd", size: int = 0) -> None:
        self.where = self.label = as_s3(place)
        path = place.removeprefix("file://") if place.startswith("file:///") else place
        self._uri = as_s3a(path) if "://" in path else f"file://{Path(path).absolute()}"
        self._by, self._compression, self._size = list(by), compression, size
        self._kept: SparkSession | None = None
        self._checked: StructType | None = None

    def exists(self) -> bool | None:
        """Whether the table exists; None for a place that only Spark reaches, before it runs. Raises KcliError if its
        store cannot be read."""
        if self._uri.startswith("file://"):
            log = Path(self._uri.removeprefix("file://")) / "_delta_log"
            return log.is_dir() and any(log.iterdir())
        if in_s3(self._uri):
            storage_here().check(self._uri)
            return bool(storage_here().names(f"{self._uri}/_delta_log"))
        return None

    @property
    def _spark(self) -> SparkSession:
        """Return the session of the last rows written, or the running one."""
        from pyspark.sql import SparkSession

        return self._kept or SparkSession.builder.getOrCreate()

    def _there(self, spark: SparkSession) -> bool:
        """Check with Hadoop's file systems, as configured in Spark."""
        jvm: Any = spark._jvm
        log = jvm.org.apache.hadoop.fs.Path(f"{self._uri}/_delta_log")
        return bool(log.getFileSystem(spark._jsc.hadoopConfiguration()).exists(log))

    def check(self, frame: DataFrame, *, evolve: bool) -> None:
        """Raise UsageError if the rows do not match an existing table."""
        spark = self._kept = frame.sparkSession
        if self._checked == frame.schema or not self._there(spark):
            return  # Delta itself checks each write
        there = self._columns()
        with self._told(None):
            detail = spark.sql(f"DESCRIBE DETAIL {self._name}").first()
        assert detail is not None
        made = there.names if MAKING & set(detail["tableFeatures"] or ()) else ()
        fits(self.label, frame.schema, there, detail["partitionColumns"], self._by, made=made, evolve=evolve)
        if evolve:
            self._check_wider(there, frame.schema, detail["properties"])
        self._checked = frame.schema

    def _columns(self) -> StructType:
        """Return the columns of an existing table."""
        with self._told(None):
            return self._spark.read.format("delta").load(self._uri).schema

    def _check_wider(self, there: StructType, now: StructType, properties: Mapping[str, str]) -> None:
        """Raise UsageError for a wider type that Delta does not widen to."""
        from kcli.pipeline.jobs.schemas import difference

        widened = difference(there, now).widened
        whole = ("tinyint", "smallint", "int", "bigint")
        on = properties.get(WIDENING) == "true"
        for path, (old, new) in widened.items():
            if not on or new not in whole:
                how = (
                    f"ALTER TABLE {self._name} SET TBLPROPERTIES ('{WIDENING}' = 'true') lets Delta widen it"
                    if new in whole
                    else "rewrite the table, or cast the column"
                )
                raise UsageError(
                    f"{self.label}: the column {path} is {old} in the table and {new} here; {how}; nothing was written"
                )

    def last(self, query: str) -> Commit | None:
        """Return a query's newest commit in the table. Raises KcliError."""
        return last_of(self._versions(), query).commit if self._there(self._spark) else None

    def write(self, rows: DataFrame, mode: str, commit: Commit | None, *, evolve: bool) -> Written:
        """Write the rows as one version."""
        spark = self._kept = rows.sparkSession
        if mode == "error" and self._there(spark):
            raise UsageError(f"the table {self.label} exists").hinted("append-overwrite")
        self.check(rows, evolve=evolve)
        writer = rows.write.format("delta").mode(mode)
        writer = writer.option("compression", self._compression)
        if evolve:
            writer = writer.option("mergeSchema", "true")
        if self._by:
            writer = writer.partitionBy(*self._by)
        if commit is not None:
            number = self._next(commit)
            writer = writer.option("userMetadata", commit.text())
            writer = writer.option("txnAppId", commit.query).option("txnVersion", str(number))
        with self._told(commit):
            writer.save(self._uri)
        return self._settled(commit)

    def merge(self, rows: DataFrame, merge: Merge, commit: Commit | None, *, evolve: bool) -> Written:
        """Write the rows as one version in which each replaces or deletes the row with its key, or is added. A new
        table gets the rows that are not deletions."""
        from kcli.pipeline.jobs.schemas import difference

        spark = self._kept = rows.sparkSession
        plain = rows.drop(DELETED)
        if not self._there(spark):
            return self.write(rows.where(f"NOT {DELETED}").drop(DELETED), "append", commit, evolve=evolve)
        self.check(plain, evolve=evolve)
        if evolve and difference(self._columns(), plain.schema).added:
            with self._told(None):  # a version with only the table's metadata
                none = plain.limit(0).write.format("delta").mode("append").option("mergeSchema", "true")
                none.save(self._uri)
        conf = {}
        if commit is not None:
            number = str(self._next(commit))
            conf = {METADATA: commit.text(), APPLICATION: commit.query, NUMBER: number}
        view = f"kcli_{uuid4().hex}"
        rows.createOrReplaceTempView(view)
        try:
            with _set(spark, conf), self._told(commit):
                spark.sql(self._merge_sql(view, plain.columns, merge))
        finally:
            spark.catalog.dropTempView(view)
        return self._settled(commit)

    def _merge_sql(self, view: str, names: Sequence[str], merge: Merge) -> str:
        columns = [quoted(name) for name in names]
        same = " AND ".join(f"t.{quoted(key)} = s.{quoted(key)}" for key in merge.keys)
        later = ""
        if merge.order_by:
            name = quoted(merge.order_by)
            later = f" AND (t.{name} IS NULL OR s.{name} >= t.{name})"
        return (
            f"MERGE INTO {self._name} AS t USING {view} AS s ON {same} "
            f"WHEN MATCHED AND s.{DELETED}{later} THEN DELETE "
            f"WHEN MATCHED AND NOT s.{DELETED}{later} THEN UPDATE SET "
            + ", ".join(f"t.{one} = s.{one}" for one in columns)
            + f" WHEN NOT MATCHED AND NOT s.{DELETED} THEN INSERT ({', '.join(columns)}) VALUES ("
            + ", ".join(f"s.{one}" for one in columns)
            + ")"
        )

    def compact(self, every: float) -> None:
        """Run OPTIMIZE, if the last time, or the table's first version, is `every` seconds ago."""
        spark = self._spark
        if not (self._there(spark) and compaction_due(self._versions(), every, time.time())):
            return
        with _set(spark, {FILE_SIZE: str(self._size)} if self._size else {}), self._told(None):
            spark.sql(f"OPTIMIZE {self._name}")

    def clean(self, older: float, *, delete: bool) -> Sequence[str]:
        """Clean with deltalake, which needs no Spark."""
        from kcli.pipeline.jobs.lake.delta import DeltaTable

        return DeltaTable(self.where).clean(older, delete=delete)

    # -- commits ----------------------------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        """The table in SQL."""
        return f"delta.{quoted(self._uri)}"

    def _versions(self, newest: list[Row] | None = None) -> Iterator[Version]:
        """Iterate over versions, newest first; `newest` are rows of the history already read."""

        def read(limit: int) -> list[Version]:
            rows = newest if newest is not None and limit == FIRST else self._newest(limit)
            return [
                Version(
                    number=int(one["version"]),
                    operation=one["operation"] or "",
                    parameters=one["operationParameters"] or {},
                    text=one["userMetadata"] or "",
                    time=int(one["timestamp"].timestamp() * 1000),
                )
                for one in rows
            ]

        return newest_first(read)

    def _newest(self, limit: int) -> list[Row]:
        """Return rows of the table's history."""
        with self._told(None):
            return self._spark.sql(f"DESCRIBE HISTORY {self._name} LIMIT {limit}").collect()

    def _next(self, commit: Commit) -> int:
        """Return the number of the query's next transaction. Raises NotCommitted for a commit that is not its next."""
        last = last_of(self._versions(), commit.query) if self._there(self._spark) else Last()
        check_next(self.label, last, commit)
        return last.version + 1

    def _settled(self, commit: Commit | None) -> Written:
        """Return the figures of the version just written. Raises NotCommitted if it is not in the table."""
        newest = self._newest(FIRST)
        if commit is not None and not has(self._versions(newest), commit):
            raise NotCommitted(
                f"{self.label}: another process that uses this checkpoint committed a batch first; nothing was "
                "committed"
            )
        metrics = newest[0]["operationMetrics"] or {} if newest else {}
        files = metrics.get("numFiles", metrics.get("numTargetFilesAdded", "0"))
        size = metrics.get("numOutputBytes", metrics.get("numTargetBytesAdded", "0"))
        return Written(files=int(files), bytes=int(size), commit=-1)

    @contextmanager
    def _told(self, commit: Commit | None) -> Iterator[None]:
        """Convert errors of Delta to a sentence about the table. A commit whose response was lost is looked up."""
        from py4j.protocol import Py4JError
        from pyspark.errors import AnalysisException, PySparkException

        try:
            yield
        except (PySparkException, Py4JError) as problem:
            if commit is not None and self._has(commit):
                return
            text = sentence(_reason(problem))
            if isinstance(problem, AnalysisException) or REFUSED.search(str(problem)):
                raise NotCommitted(f"{self.label}: {text}; nothing was committed") from problem
            raise KcliError(f"{self.label}: {text}") from problem

    def _has(self, commit: Commit) -> bool:
        """Whether a commit is in the table, as far as can be determined now."""
        try:
            return has(self._versions(), commit)
        except KcliError:
            return False


def _reason(problem: Exception) -> str:
    """Return Delta's message for an error, else Spark's first words."""
    from kcli.pipeline.errors import told

    found = re.search(r"\[DELTA_[\w.]+\]\s*(.+?)(?=\n\s*at |\nCaused by|\nDriver stack|\Z)", str(problem), re.DOTALL)
    if found is None:
        return str(told(problem)).removeprefix("Spark: ")
    return re.sub(r"\s*SQLSTATE: \w+|\s+(?=[.:;])", "", " ".join(found[1].split()))


@contextmanager
def _set(spark: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    """Set these session settings temporarily."""
    before: dict[str, str | None] = {name: spark.conf.get(name, None) for name in conf}
    try:
        for name, value in conf.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)
