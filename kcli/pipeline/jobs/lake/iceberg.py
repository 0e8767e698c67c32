"""A table of Iceberg, by pyiceberg: no jars, whatever Spark's version is.

A commit is one change of the table's metadata in its catalog: the snapshot with the files, and a property that says
which batch of which query it is. So one cannot be there without the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from kcli.errors import KcliError, UsageError
from kcli.pipeline.jobs.lake.catalogs import CatalogPlace, told
from kcli.pipeline.jobs.lake.committer import NotCommitted
from kcli.pipeline.jobs.lake.iceberg_commit import BATCH, commit_files, commit_merged, has_files_of
from kcli.pipeline.sink.layout import FileEntry, Layout
from kcli.pipeline.sink.storage import Storage, storage_here
from kcli.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyiceberg.catalog import Catalog
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table, Transaction
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

    from kcli.pipeline.jobs.lake.merging.latest import Merge

PLAIN = {
    "boolean": "BooleanType",
    "tinyint": "IntegerType",
    "smallint": "IntegerType",
    "int": "IntegerType",
    "bigint": "LongType",
    "float": "FloatType",
    "double": "DoubleType",
    "string": "StringType",
    "binary": "BinaryType",
    "date": "DateType",
    "timestamp": "TimestamptzType",
    "timestamp_ntz": "TimestampType",
}
UNITS = {
    "year": "year({0}) - 1970",
    "month": "(year({0}) - 1970) * 12 + month({0}) - 1",
    "day": "unix_date(to_date({0}))",
    "hour": "CAST(floor(unix_seconds(CAST({0} AS TIMESTAMP)) / 3600) AS INT)",
}
"""A time as Iceberg counts it: since 1970, in whole units."""
STORED = {
    "date": "unix_date({0})",
    "timestamptz": "unix_micros({0})",
    "timestamp": "unix_micros(CAST({0} AS TIMESTAMP))",
}
"""A value as Iceberg's manifests have it, where that is another than Spark's."""
TIMES = ("date", "timestamptz", "timestamp")


class IcebergTable:
    """A table, by its name NAMESPACE.TABLE in a catalog; it need not be there yet. `by` are the names of its partition
    fields, `units` those of a time: (name, unit, SQL of the time)."""

    def __init__(
        self,
        name: str,
        place: CatalogPlace,
        *,
        by: Sequence[str] = (),
        units: Sequence[tuple[str, str, str]] = (),
        compression: str = "zstd",
        size: int = 128 << 20,
    ) -> None:
        self.name = tuple(name.split("."))
        if len(self.name) < 2 or not all(self.name):
            raise UsageError(f"{name}: an Iceberg table is named NAMESPACE.TABLE, such as lake.orders")
        self.label = name
        self.place = place
        root = place.root or place.catalog
        self.where = "/".join([root.removeprefix("file://").rstrip("/"), *self.name])
        self.storage: Storage = storage_here()
        self._by, self._units = list(by), list(units)
        self._compression, self._size = compression, size
        self._opened: Catalog | None = None
        self._staged: Any = None

    @property
    def catalog(self) -> Catalog:
        """The catalog, opened when it is first asked."""
        if self._opened is None:
            self._opened = self.place.opened()
        return self._opened

    def exists(self) -> bool:
        """Whether the table is there. Raises KcliError where its store cannot be read."""
        if self.place.root.startswith("s3://"):
            self.storage.check(self.place.root)
        return self.table() is not None

    def table(self) -> Table | None:
        """The table as it is now, None if it is missing. Raises KcliError."""
        if not self.place.known:
            return None
        from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

        with told(self.label):
            try:
                return self.catalog.load_table(self.name)
            except (NoSuchTableError, NoSuchNamespaceError):
                return None

    def last(self, query: str) -> int:
        """The last batch of a query that is in the table, -1 for none."""
        table = self.table()
        return -1 if table is None else int(table.properties.get(BATCH + query, -1))

    def prepared(self, frame: DataFrame, attempt: str, *, evolve: bool) -> tuple[DataFrame, Layout]:
        """The rows with their partition values, and how they are written. A table that is not there yet is made by the
        commit. Raises UsageError where the rows do not fit."""
        table = self.table()
        if table is None:
            frame = self._staging(frame)
            table = self._staged
        else:
            frame = self._fitting(frame, table, evolve=evolve)
        from pyiceberg.io.pyarrow import schema_to_pyarrow
        from pyspark.sql import functions as f

        schema = table.schema()
        parts = known_parts(table.spec(), schema, self.label)
        marks = [f"_kcli_part_{number}" for number in range(len(parts))]
        for mark, part in zip(marks, parts, strict=True):
            frame = frame.withColumn(mark, f.expr(part.sql(schema)))
        if marks:
            frame = frame.sortWithinPartitions(*marks)
        return frame, Layout(
            folder=f"{table.location()}/data/{attempt}",
            schema=schema_to_pyarrow(schema).serialize().to_pybytes(),
            parts=tuple(marks),
            labels=tuple(part.name for part in parts),
            compression=self._compression,
            size=self._size,
            storage=storage_of(table.io.properties),
        )

    def _staging(self, frame: DataFrame) -> DataFrame:
        """A transaction that makes the table, kept until the commit; the rows without columns that are hidden in its
        partition."""
        schema = iceberg_of(frame.schema)
        parts = parts_of(self._by, self._units, schema)
        hidden = [part.name for part in parts if part.unit]
        if hidden:
            frame = frame.drop(*hidden)
            schema = iceberg_of(frame.schema)
        with told(self.label):
            self.catalog.create_namespace_if_not_exists(self.name[:-1])
            transaction = self.catalog.create_table_transaction(
                self.name, schema=schema, partition_spec=spec_of(parts, schema), properties={"format-version": "2"}
            )
        self._staged = transaction._table
        self._transaction = transaction
        return frame

    def _fitting(self, frame: DataFrame, table: Table, *, evolve: bool) -> DataFrame:
        """The rows for a table that is there."""
        parts = known_parts(table.spec(), table.schema(), self.label)
        wanted = parts_of(self._by, self._units, table.schema())
        if wanted and wanted != parts:
            raise UsageError(
                f"{self.label} is partitioned by {said(parts) or 'nothing'}: partition by the same columns, or "
                "name none"
            ).hinted("partition-by")
        frame = without_hidden(frame, table, self.label)
        if not evolve:
            check_same_columns(frame.schema, table, self.label)
            return frame
        merged = evolved_columns(frame.schema, table, self.label)
        if merged is not None:
            with told(self.label), table.update_schema() as update:
                update.union_by_name(iceberg_of(merged))
        return frame

    def check(self, frame: DataFrame, *, evolve: bool) -> None:
        """Before anything is written: raise where the rows do not fit to a table that is there."""
        table = self.table()
        if table is None:
            return
        frame = without_hidden(frame, table, self.label)
        if evolve:
            evolved_columns(frame.schema, table, self.label)
        else:
            check_same_columns(frame.schema, table, self.label)

    def commit(self, entries: Sequence[FileEntry], mode: str, query: str, batch: int) -> None:
        """One change of the table's metadata; that of `prepared` where the table is new. Raises NotCommitted,
        KcliError."""
        new, transaction = self._begun()
        replace = mode == "overwrite" and not new
        commit_files(transaction, entries, query, batch, label=self.label, replace=replace)

    def merge(self, rows: pa.Table, merge: Merge, query: str, batch: int) -> None:
        """One change of the table's metadata, in which rows are replaced, deleted and added by their key. Raises
        NotCommitted, KcliError."""
        _, transaction = self._begun()
        commit_merged(transaction, rows, merge, query, batch, label=self.label)

    def _begun(self) -> tuple[bool, Transaction]:
        """Whether the table is new, and the transaction that makes or changes it. Raises NotCommitted."""
        staged, self._staged = self._staged, None
        if staged is not None:
            return True, self._transaction
        table = self.table()
        if table is None:
            raise NotCommitted(f"{self.label} was dropped while its rows were written; nothing was committed")
        return False, table.transaction()

    def holds(self, folder: str) -> bool:
        """Whether a snapshot has files of this folder."""
        table = self.table()
        if table is None:
            return False
        with told(self.label):
            return has_files_of(table, folder)

    def compact(self, every: float) -> None:
        """Raises KcliError: pyiceberg has no compaction."""
        raise KcliError(f"{self.label}: pyiceberg has no compaction")


def storage_of(properties: dict[str, str]) -> Storage:
    """The store of a table, by the properties of its catalog; of those only what is no secret."""
    here = storage_here()
    return Storage(
        endpoint=properties.get("s3.endpoint", here.endpoint), region=properties.get("s3.region", here.region)
    )


def said(parts: Sequence[Part]) -> str:
    """Partition fields as --partition-by has them."""
    return ", ".join(f"{part.unit}({part.column})" if part.unit else part.column for part in parts)


def without_hidden(frame: DataFrame, table: Table, label: str) -> DataFrame:
    """The rows without the columns that are hidden in the table's partition."""
    parts = known_parts(table.spec(), table.schema(), label)
    names = table.schema().column_names
    return frame.drop(*[part.name for part in parts if part.unit and part.name not in names])


def evolved_columns(now: StructType, table: Table, label: str) -> StructType | None:
    """The columns of the table with those of the rows, None where they are the same: columns are added, int widens
    to bigint. Raises KcliError for another change."""
    from kcli.pipeline.jobs.schemas import difference, evolved

    before, ours = spark_of(table.schema()), spark_of(iceberg_of(now))
    found = difference(before, ours)
    narrow = {path: types for path, types in found.widened.items() if types[1] != "bigint"}
    for path, (old, new) in {**found.changed, **narrow}.items():
        raise KcliError(
            f"{label}: the column {path} is {old}, here {new}; a column of Iceberg gets wider from int to "
            "bigint only; nothing was written"
        )
    return evolved(before, ours) if found.added or found.widened else None


def check_same_columns(now: StructType, table: Table, label: str) -> None:
    """Raise UsageError for other columns than the table's."""
    ours = {one.name: one.dataType.simpleString() for one in spark_of(iceberg_of(now)).fields}
    theirs = {one.name: one.dataType.simpleString() for one in spark_of(table.schema()).fields}
    wrong = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    if wrong:
        raise UsageError(
            f"{label} is another table: its column {wrong[0]} is {theirs.get(wrong[0], 'not there')}, here "
            f"{ours.get(wrong[0], 'not there')}"
        )


def iceberg_of(shape: StructType) -> Schema:
    """The columns, numbered from 1. Raises UsageError for a type that Iceberg has not."""
    from pyiceberg.schema import Schema

    numbers = count(1)
    return Schema(*_fields(shape, numbers, ""))


def _fields(shape: StructType, numbers: Iterator[int], path: str) -> list[Any]:
    from pyiceberg.types import NestedField

    fields = []
    for one in shape.fields:
        place = f"{path}.{one.name}" if path else one.name
        number = next(numbers)
        fields.append(NestedField(number, one.name, _type(one.dataType, numbers, place), required=False))
    return fields


def _type(kind: DataType, numbers: Iterator[int], path: str) -> Any:
    from pyiceberg import types
    from pyspark.sql.types import ArrayType, DecimalType, MapType, StructType

    if isinstance(kind, StructType):
        return types.StructType(*_fields(kind, numbers, path))
    if isinstance(kind, ArrayType):
        number = next(numbers)
        return types.ListType(number, _type(kind.elementType, numbers, f"{path}[]"), element_required=False)
    if isinstance(kind, MapType):
        key, value = next(numbers), next(numbers)
        keys = _type(kind.keyType, numbers, path)
        return types.MapType(key, keys, value, _type(kind.valueType, numbers, path), value_required=False)
    if isinstance(kind, DecimalType):
        return types.DecimalType(kind.precision, kind.scale)
    name = PLAIN.get(kind.simpleString())
    if name is None:
        raise UsageError(
            f"the column {path} is {kind.simpleString()}, which Iceberg has not: select CAST({path} AS STRING)"
        )
    return getattr(types, name)()


def spark_of(schema: Schema) -> StructType:
    """Columns of a table, as Spark's. Raises UsageError for a type that Spark has not."""
    from pyiceberg.io.pyarrow import schema_to_pyarrow
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import from_arrow_schema

    try:
        return from_arrow_schema(schema_to_pyarrow(schema, include_field_ids=False))
    except PySparkTypeError as problem:
        raise UsageError(f"the table has a column that Spark cannot write: {problem}") from problem


class Part(Frozen):
    """One field of a partition: `unit` "" is the column itself."""

    name: str = ""
    column: str = ""
    unit: str = ""

    def sql(self, schema: Schema) -> str:
        """The value of a row, as Iceberg has it."""
        quoted = ".".join(f"`{one}`" for one in self.column.split("."))
        if self.unit:
            return UNITS[self.unit].format(quoted)
        kind = str(schema.find_field(self.column).field_type)
        return STORED.get(kind, "{0}").format(quoted)


def parts_of(names: Sequence[str], units: Sequence[tuple[str, str, str]], schema: Schema) -> list[Part]:
    """What --partition-by says, for a table with these columns. `units` have (name, unit, SQL of a time): one of a
    column that is in the table is hidden, any other is a column by itself."""
    known = {name: Part(name=name, column=time, unit=unit) for name, unit, time in units if _is_time(schema, time)}
    return [known.get(name, Part(name=name, column=name)) for name in names]


def _is_time(schema: Schema, column: str) -> bool:
    try:
        return str(schema.find_field(column).field_type) in TIMES
    except ValueError:
        return False


def spec_of(parts: Sequence[Part], schema: Schema) -> PartitionSpec:
    """The partition of a new table."""
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.transforms import DayTransform, HourTransform, IdentityTransform, MonthTransform, YearTransform

    kinds: dict[str, Any] = {
        "": IdentityTransform,
        "year": YearTransform,
        "month": MonthTransform,
        "day": DayTransform,
        "hour": HourTransform,
    }
    return PartitionSpec(
        *[
            PartitionField(
                source_id=schema.find_field(part.column).field_id,
                field_id=1000 + number,
                transform=kinds[part.unit](),
                name=part.name,
            )
            for number, part in enumerate(parts)
        ]
    )


def known_parts(spec: PartitionSpec, schema: Schema, label: str) -> list[Part]:
    """The partition of a table that is there. Raises UsageError for one that kcli does not write."""
    parts = []
    for field in spec.fields:
        word = str(field.transform)
        if word not in ("identity", *UNITS):
            raise UsageError(f"{label} is partitioned by {word} of a column, which kcli does not write")
        column = schema.find_column_name(field.source_id) or ""
        parts.append(Part(name=field.name, column=column, unit="" if word == "identity" else word))
    return parts
