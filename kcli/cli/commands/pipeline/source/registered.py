"""Formats of a line whose schemas are in a registry: the options of the source, and the schema that a stream is kept
to, so that files of one folder have one schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.options import PayloadOptions
from kcli.cli.commands.pipeline.source.pinned import Pinned, SchemaChanged
from kcli.errors import UsageError
from kcli.pipeline.schemas.wanted import REGISTERED, wanted_of

if TYPE_CHECKING:
    from kcli.pipeline.schemas.sealed import SealedSchemas


class Registered:
    """What a line says of registries. Raises UsageError for what goes with another format."""

    def __init__(self, payload: PayloadOptions) -> None:
        self.values = payload.value_format in REGISTERED
        self.any = self.values or payload.key_format in REGISTERED
        self._reader = payload.reader_schema or ""
        given = {
            "--schema-registry": ("schemaRegistry", payload.schema_registry, self.any),
            "--value-subject": ("valueSubject", payload.value_subject, self.values),
            "--reader-schema": ("readerSchema", payload.reader_schema, self.values),
        }
        for flag, (_, text, fits) in given.items():
            if text and not fits:
                raise UsageError(f"{flag} goes with --value-format {', '.join(REGISTERED)}")
        self._options = {option: text for option, text, _ in given.values() if text}

    def options(self) -> dict[str, str]:
        """For the source."""
        return dict(self._options)

    def pin(self, spark_options: Mapping[str, str], label: str, mode: str, kept: Pinned) -> None:
        """Read values with one schema by its id: the latest, or that of the first run. Raises SchemaChanged where the
        latest has other columns than the first run's and the mode is fail; KcliError."""
        if not self.values or self._reader.startswith("file:"):
            return
        found = _looked_up({**spark_options, **self._options})
        number = f"id:{found.reader.schema.id}"
        known = kept.kept(label)
        if known is not None and known != number and not self._reader.startswith("id:"):
            number = self._settled({**spark_options, **self._options}, found, known, mode, label, kept)
        kept.settle(label, number)
        self._options["readerSchema"] = number

    def _settled(
        self, given: Mapping[str, str], found: SealedSchemas, known: str, mode: str, label: str, kept: Pinned
    ) -> str:
        """The schema that the mode chooses of the first run's and the latest."""
        from kcli.pipeline.schemas.columns import ddl
        from kcli.pipeline.schemas.fields import column_of

        number = f"id:{found.reader.schema.id}"
        before, now = (ddl(column_of(one)) for one in (_looked_up({**given, "readerSchema": known}), found))
        if before == now:
            return number
        if mode == "pinned":
            kept.notes.append(f"{label}: read by the first run's schema, {known}; the latest is {number}")
            return known
        raise SchemaChanged(
            f"the latest schema of {found.reader.schema.subject or label} is {number} with other columns than "
            f"{known} of the first run: nothing was written; --schema-mode pinned reads by {known}, which is in "
            f"{kept.path}, and --reader-schema names another"
        )


def _looked_up(spark_options: Mapping[str, str]) -> SealedSchemas:
    """The schemas of values, as the source looks them up."""
    from kcli.pipeline.connection import registry_settings
    from kcli.pipeline.schemas.look_up import looked_up

    given = {key.lower(): text for key, text in spark_options.items()}
    (wanted,) = [one for one in wanted_of(given) if one.field == "value"]
    return looked_up(wanted, registry_settings(given))
