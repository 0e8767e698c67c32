"""The schema that the first run of a stream took from the records, kept beside its checkpoint.

A later run takes it from newer records. Where that is another one, files of both would lie in one folder, which no
reader takes: the run is refused before anything is written.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from kcli.errors import KcliError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SchemaChanged(KcliError):
    """The newest records have another schema than the first run."""


class Pinned:
    """The schemas of one checkpoint, by topic. What was kept of a checkpoint without a batch holds nothing."""

    def __init__(self, checkpoint: Path | str) -> None:
        self.path = Path(f"{checkpoint}.schema.json")
        self._elsewhere = isinstance(checkpoint, str)
        offsets = Path(checkpoint) / "offsets"
        begun = offsets.is_dir() and any(path.name.isdigit() for path in offsets.iterdir())
        self._known: dict[str, str] = self._read() if begun and self.path.exists() else {}
        self._settled: dict[str, str] = {}

    def _read(self) -> dict[str, str]:
        try:
            schemas = json.loads(self.path.read_text(encoding="utf-8"))
            return {str(topic): str(ddl) for topic, ddl in schemas.items()}
        except (OSError, ValueError, AttributeError) as problem:
            raise UsageError(f"{self.path} is not the schema of a pipeline: {problem}") from problem

    def settled(self, spark: SparkSession, topic: str, taken: str | None, given: str) -> str:
        """The schema to read with: what is given, else the first run's. `taken` is that of the newest records, None
        where they have none. Raises SchemaChanged, where it has a field that is new or of another type."""
        from kcli.pipeline.jobs.frames import fields_of

        if self._elsewhere:
            if given:
                return given
            raise UsageError(
                "--value-schema is needed: the schema of the first run cannot be kept beside a --checkpoint that is "
                "elsewhere, and the next run would take another from newer records"
            )
        known = self._known.get(topic)
        schema = given or known or taken or ""
        if not given and known is not None and taken is not None:
            before, now = fields_of(spark, known), fields_of(spark, taken)
            other = next((name for name in now if now[name] != before.get(name)), None)
            if other is not None:
                was = f"{before[other]} in the first run" if other in before else "not there in the first run"
                raise SchemaChanged(
                    f"the field {other} is {now[other]} in the newest records of {topic}, and was {was}: nothing was "
                    f"written; --value-schema says which schema to read with (the first run's is in {self.path})"
                )
        self._settled[topic] = schema
        return schema

    def keep(self) -> None:
        """Write it down, before anything else is written. Raises UsageError."""
        if not self._settled:
            return
        part = self.path.with_suffix(f".{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(self._known | self._settled, indent=1) + "\n", encoding="utf-8")
            part.replace(self.path)
        except OSError as problem:
            raise UsageError(f"{self.path} cannot be written: {problem.strerror}") from problem
