"""`format("kcli")`: reads a topic as a table, and writes a table to a topic. Spark finds it through `pyspark_kcli`.

Only options are checked here; readers and writers import what they need.
"""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader
    from pyspark.sql.types import StructType

    from kcli.pipeline.connection import Sealed
    from kcli.pipeline.options import WriteOptions
    from kcli.pipeline.schemas.sealed import SealedSchemas
    from kcli.pipeline.sink.write import BatchWriter, StreamWriter


class KcliDataSource(DataSource):
    """Kafka topics through kcli's own client."""

    options: MutableMapping[str, str]
    _found: dict[str, SealedSchemas] | None = None
    """The registry's schemas of keys and values, looked up once, because this object is pickled with its plan."""

    @classmethod
    def name(cls) -> str:
        """The name for `format`."""
        return "kcli"

    def schema(self) -> str:
        """The columns of a read. Raises UsageError, and KcliError if a registry does not have a requested schema."""
        from kcli.pipeline.options import schema_of

        if not self._schemas():
            return schema_of(self.options)
        from kcli.pipeline.schemas.fields import column_of, ddl

        return schema_of(self.options, {field: ddl(column_of(sealed)) for field, sealed in self._schemas().items()})

    def reader(self, schema: StructType) -> DataSourceReader:
        """spark.read. Raises UsageError."""
        from kcli.pipeline.options import read_options

        options, sealed = read_options(self.options, streaming=False), self._sealed()
        if options.pushdown:
            from kcli.pipeline.source.pushdown import PushingReader

            return PushingReader(options, sealed, schema, self._schemas())
        from kcli.pipeline.source.read import BatchReader

        return BatchReader(options, sealed, schema, self._schemas())

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """spark.readStream. Raises UsageError."""
        from kcli.pipeline.options import read_options
        from kcli.pipeline.source.stream import StreamReader

        options = read_options(self.options, streaming=True)
        return StreamReader(options, self._sealed(), schema, self._schemas())

    def writer(self, schema: StructType, overwrite: bool) -> BatchWriter:
        """df.write, mode append. Raises UsageError."""
        from kcli.errors import UsageError
        from kcli.pipeline.options import write_options
        from kcli.pipeline.sink.write import BatchWriter

        if overwrite:
            raise UsageError("a topic cannot be overwritten: use mode append")
        options, sealed = write_options(self.options), self._sealed()
        schemas = self._written(schema, options)
        if options.exactly_once:
            from kcli.pipeline.sink.exactly_once import BatchExactlyOnce

            return BatchExactlyOnce(options, sealed, schema, schemas)
        return BatchWriter(options, sealed, schema, schemas)

    def streamWriter(self, schema: StructType, overwrite: bool) -> StreamWriter:
        """df.writeStream. Raises UsageError."""
        from kcli.pipeline.options import write_options
        from kcli.pipeline.sink.write import StreamWriter

        options, sealed = write_options(self.options), self._sealed()
        schemas = self._written(schema, options)
        if options.exactly_once:
            from kcli.pipeline.sink.exactly_once import StreamExactlyOnce

            return StreamExactlyOnce(options, sealed, schema, schemas)
        return StreamWriter(options, sealed, schema, schemas)

    def _written(self, schema: StructType, options: WriteOptions) -> dict[str, SealedSchemas]:
        """Return the schemas for writing keys and values, registered if requested after all other checks. Raises
        UsageError, KcliError."""
        from kcli.pipeline.schemas.wanted import wanted_of
        from kcli.pipeline.sink.write import check_schema

        given = {key.lower(): text for key, text in self.options.items()}
        wanted = wanted_of(given, writes=True)
        check_schema(schema, options, [one.field for one in wanted])
        if not wanted:
            return {}
        from kcli.pipeline.connection import guard_of, registry_settings
        from kcli.pipeline.schemas.writing import looked_up_to_write

        settings, (guard, profile) = registry_settings(given), guard_of(given)
        return {one.field: looked_up_to_write(one, settings, guard=guard, profile=profile) for one in wanted}

    def _schemas(self) -> dict[str, SealedSchemas]:
        """Return the registry's schemas of keys and values, by column. Raises UsageError, KcliError."""
        if self._found is None:
            from kcli.pipeline.options import known
            from kcli.pipeline.schemas.wanted import wanted_of

            given = {key.lower(): text for key, text in self.options.items()}
            known(given)
            wanted = wanted_of(given)
            self._found = {}
            if wanted:
                from kcli.pipeline.connection import registry_settings
                from kcli.pipeline.schemas.look_up import looked_up

                settings = registry_settings(given)
                self._found = {one.field: looked_up(one, settings) for one in wanted}
        return self._found

    def _sealed(self) -> Sealed:
        """Return the settings; options without effect are logged. Raises UsageError."""
        from kcli.pipeline.connection import sealed_of
        from kcli.pipeline.options import PASSED_OVER

        said = [f"option {name} has no effect in kcli and is ignored" for name in PASSED_OVER if name in self.options]
        sealed = sealed_of(self.options, said.append)
        for sentence in said:
            print(f"kcli: {sentence}", file=sys.stderr)
        return sealed
