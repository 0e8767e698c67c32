"""Formats of a line whose schemas are in a registry: the options of the source, and the schemas that a stream is kept
to, so that files of one folder have one schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.options import PayloadOptions
from kcli.cli.commands.pipeline.source.pinned import Pinned, SchemaChanged
from kcli.errors import UsageError
from kcli.pipeline.schemas.wanted import EMIT, REGISTERED, absolute, option_of, wanted_of

if TYPE_CHECKING:
    from kcli.pipeline.schemas.sealed import SealedSchemas

FLAGS = {"key": "--key-reader-schema", "value": "--reader-schema"}


class Registered:
    """What a line says of registries. Raises UsageError for what goes with another format."""

    def __init__(self, payload: PayloadOptions) -> None:
        formats = {"key": payload.key_format, "value": payload.value_format}
        self.formats = {part: form for part, form in formats.items() if form in REGISTERED}
        """Of the parts whose schemas are in a registry: key, value, or both."""
        given = [
            ("--value-subject", "valueSubject", payload.value_subject, "value"),
            ("--value-subject-strategy", "valueSubjectStrategy", payload.value_subject_strategy, "value"),
            ("--reader-schema", "readerSchema", payload.reader_schema, "value"),
            ("--value-schema", "valueSchema", payload.value_schema if "value" in self.formats else None, "value"),
            ("--key-schema", "keySchema", payload.key_schema if "key" in self.formats else None, "key"),
            ("--key-subject-strategy", "keySubjectStrategy", payload.key_subject_strategy, "key"),
            ("--key-subject", "keySubject", payload.key_subject, "key"),
            ("--key-reader-schema", "keyReaderSchema", payload.key_reader_schema, "key"),
        ]
        for flag, _, text, part in given:
            if text and part not in self.formats:
                raise UsageError(f"{flag} requires --{part}-format {', '.join(REGISTERED)}")
        if payload.schema_registry and not self.formats:
            raise UsageError(f"--schema-registry requires --value-format {', '.join(REGISTERED)}")
        if payload.without_rules and not self.formats:
            raise UsageError(f"--without-rules requires --value-format {', '.join(REGISTERED)}")
        self._options = {option: absolute(text) for _, option, text, _ in given if text}
        if payload.emit_default_values:
            if "protobuf" not in self.formats.values():
                raise UsageError("--emit-default-values requires --value-format or --key-format protobuf")
            self._options[EMIT] = "true"
        if payload.without_rules:
            self._options["withoutRules"] = "true"
        if payload.schema_registry:
            self._options["schemaRegistry"] = absolute(payload.schema_registry)

    def options(self) -> dict[str, str]:
        """For the source."""
        return dict(self._options)

    def pin(self, spark_options: Mapping[str, str], label: str, mode: str, kept: Pinned) -> None:
        """Read keys and values with one schema each by its id: the latest, or that of the first run. Raises
        SchemaChanged where the latest has other columns than the first run's and the mode does not allow it,
        UsageError where the first run's cannot be kept and none is named; KcliError."""
        formats = {f"{part}Format": form for part, form in self.formats.items() if form}
        given = {**spark_options, **formats, **self._options}
        for part in self.formats:
            option = option_of(part, writes=False)
            reader = self._options.get(option) or self._options.get(f"{part}Schema", "")
            if kept.elsewhere and not reader.startswith(("id:", "file:")):
                raise UsageError(
                    f"{FLAGS[part]} id:N is needed: the schema of the first run cannot be stored with a "
                    "--checkpoint that is neither on this machine nor in s3://, so the next run would use a newer one"
                )
            if kept.elsewhere or reader.startswith("file:"):
                continue
            found = _looked_up(given, part)
            number = f"id:{found.reader.schema.id}"
            place = label if part == "value" else f"{label} key"
            known = kept.kept(place)
            if known is not None and known != number and not reader.startswith("id:"):
                number = _settled(given, found, known, mode, place, kept)
            kept.settle(place, number)
            self._options[option] = f"{number}#{found.message}" if found.message else number


def _settled(given: Mapping[str, str], found: SealedSchemas, known: str, mode: str, place: str, kept: Pinned) -> str:
    """The schema that the mode chooses of the earlier run's and the latest."""
    from kcli.pipeline.schemas.fields import column_of, ddl, not_grown

    message = f"#{found.message}" if found.message else ""
    earlier = _looked_up({**given, option_of(found.field, writes=False): known + message}, found.field)
    before, now = column_of(earlier), column_of(found)
    number = f"id:{found.reader.schema.id}"
    if ddl(before) == ddl(now):
        return number
    subject = found.reader.schema.subject or place
    if mode in ("pinned", "quarantine"):
        kept.notes.append(f"{place}: read by the first run's schema, {known}; the latest is {number}")
        return known
    if mode == "evolve":
        reason = not_grown(before, now)
        if not reason:
            kept.notes.append(
                f"{place}: read by {number}, with columns that {known} does not have (--schema-mode evolve)"
            )
            return number
        raise SchemaChanged(
            f"the latest schema of {subject} is {number}, and {reason} in {known} of the last run: nothing was "
            f"written, as --schema-mode evolve adds columns and widens numbers only; pinned reads by {known}"
        )
    raise SchemaChanged(
        f"the latest schema of {subject} is {number} with other columns than {known} of the first run: nothing was "
        f"written; --schema-mode pinned reads by {known}, which is in {kept.path}, evolve adds the new columns, and "
        f"{FLAGS[found.field]} names another"
    )


def _looked_up(spark_options: Mapping[str, str], part: str) -> SealedSchemas:
    """The schemas of keys or values, as the source looks them up."""
    from kcli.pipeline.connection import registry_settings
    from kcli.pipeline.schemas.look_up import looked_up

    given = {key.lower(): text for key, text in spark_options.items()}
    (wanted,) = [one for one in wanted_of(given) if one.field == part]
    return looked_up(wanted, registry_settings(given))
