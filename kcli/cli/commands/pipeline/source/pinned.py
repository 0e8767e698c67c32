"""The schema that the first run of a stream took from the records, kept beside its checkpoint.

A later run takes it from newer records. Where that is another one, files of both would lie in one folder, which no
reader takes. So --schema-mode decides: the run is refused before anything is written, the first schema is read on, or
columns are added and numbers widened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kcli.errors import KcliError, UsageError
from kcli.pipeline.jobs.checkpoints import Beside, stored

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kcli.pipeline.jobs.schemas import Difference


class SchemaChanged(KcliError):
    """The newest records have another schema than the first run."""


class Pinned:
    """The schemas of one checkpoint, by topic; none can be kept beside one that is `elsewhere`. `notes` are sentences
    about what differs and is no error."""

    def __init__(self, checkpoint: Path | str) -> None:
        self.elsewhere = isinstance(checkpoint, str) and not stored(checkpoint)
        self._kept = Beside(checkpoint, "schema", "the schema of a pipeline")
        self.path = self._kept.path
        self.notes: list[str] = []
        self._settled: dict[str, str] = {}

    def kept(self, topic: str) -> str | None:
        """What the first run wrote down of a topic; None without a first run."""
        return self._kept.known.get(topic)

    def settle(self, topic: str, schema: str) -> None:
        """Write that down with `keep`."""
        self._settled[topic] = schema

    def knows(self, topic: str) -> bool:
        """Whether an earlier run wrote records of the topic, by a schema that is kept."""
        return topic in self._kept.known

    def settled(
        self,
        spark: SparkSession,
        topic: str,
        taken: str | None,
        given: str,
        *,
        mode: str = "fail",
        samples: Sequence[bytes] = (),
    ) -> str:
        """The schema to read with: what is given, else the first run's; with mode evolve that, and what the newest
        records have more. `taken` is theirs, None where there are none. Raises SchemaChanged, where they have a
        field that is new or of another type, and the mode does not allow it."""
        if self.elsewhere:
            if given:
                return given
            raise UsageError(
                "--value-schema is needed: the schema of the first run cannot be stored with a --checkpoint that "
                "is neither on this machine nor in s3://, so the next run would infer another one from newer records"
            )
        known = self._kept.known.get(topic)
        schema = given or known or taken or ""
        if not given and known is not None and taken is not None:
            schema = self._compared(spark, topic, known, taken, mode, samples)
        self._settled[topic] = schema
        return schema

    def _compared(
        self, spark: SparkSession, topic: str, known: str, taken: str, mode: str, samples: Sequence[bytes]
    ) -> str:
        """The schema that the mode makes of the first run's and that of the newest records."""
        from kcli.pipeline.jobs.schemas import ddl_of, difference, evolved, struct_of

        before, now = struct_of(spark, known), struct_of(spark, taken)
        found = difference(before, now, taken=True)
        if mode == "pinned":
            self._note_pinned(topic, found, samples)
            return known
        if mode == "quarantine":
            return known  # each record that has more, or other values, goes there
        changed = {path: types for path, types in found.changed.items() if mode == "fail" or types[0] != "string"}
        others = dict(changed) if mode == "evolve" else {**found.added, **found.widened, **changed}
        if others:
            raise SchemaChanged(self._refusal(topic, found, next(iter(others)), mode))
        self._note_evolved(topic, found)
        return ddl_of(evolved(before, now)) if found.added or found.widened else known

    def _refusal(self, topic: str, found: Difference, path: str, mode: str) -> str:
        before, now = {**found.widened, **found.changed}.get(path, ("", found.added.get(path, "")))
        was = f"{before} in the first run" if before else "not there in the first run"
        said = f"the field {path} is {now} in the newest records of {topic}, and was {was}: nothing was written"
        if mode == "evolve":
            said += f"; --schema-mode evolve adds columns and widens numbers, but cannot turn {before} into {now}"
        return (
            f"{said}; --schema-mode pinned uses the first run's schema, which is in {self.path}; --value-schema sets "
            f"another"
        )

    def _note_pinned(self, topic: str, found: Difference, samples: Sequence[bytes]) -> None:
        """Count the newest records that have what the schema does not name, or name otherwise."""
        from kcli.pipeline.jobs.fields import fields_of

        if not (found.added or found.widened or found.changed):
            return
        fields = fields_of(samples)
        counts = {path: seen.seen for path, seen in fields.paths.items()}
        said = [f"{path} ({kind}, {counts.get(path, 0):,} times)" for path, kind in found.added.items()]
        if said:
            self.notes.append(
                f"{topic}: not read, because the first run's schema does not have it (--schema-mode pinned): "
                f"{', '.join(said)}, in the {fields.values:,} newest records"
            )
        others = [f"{path} ({now}, {before} here)" for path, (before, now) in _types(found).items()]
        if others:
            self.notes.append(
                f"{topic}: type changed in the newest records: {', '.join(others)}; --on-bad sets what happens to "
                f"values that do not match"
            )

    def _note_evolved(self, topic: str, found: Difference) -> None:
        added = [f"{path} ({kind}) is added" for path, kind in found.added.items()]
        wider = [f"{path} becomes {now}, it was {before}" for path, (before, now) in found.widened.items()]
        stays = [f"{path} stays a string" for path, (before, _) in found.changed.items() if before == "string"]
        if added or wider or stays:
            self.notes.append(f"{topic}: {'; '.join([*added, *wider, *stays])} (--schema-mode evolve)")

    def keep(self) -> None:
        """Write it down, before anything else is written. Raises UsageError."""
        if self._settled:
            self._kept.keep(self._settled)


def _types(found: Difference) -> Mapping[str, tuple[str, str]]:
    return {**found.widened, **found.changed}
