"""Formats of the records that a pipeline writes, by schemas of a registry: the options of lines and of the sink."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.parsing.option import Options
from kcli.errors import UsageError
from kcli.pipeline.schemas.wanted import FILE, REGISTERED, absolute
from kcli.registry.subjects import STRATEGIES

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import KcliOption

FORMS = tuple(REGISTERED)


class WrittenOptions(Options):
    """What keys and values become in the topic that is written."""

    to_value_format: Annotated[
        str | None,
        KcliOption(
            "--to-value-format",
            choices=FORMS,
            help="Write values with a schema from the registry: columns become its fields.",
        ),
    ] = None
    to_key_format: Annotated[
        str | None, KcliOption("--to-key-format", choices=FORMS, help="Write keys with a schema from the registry.")
    ] = None
    to_value_subject: Annotated[
        str | None,
        typer.Option(
            "--to-value-subject", metavar="NAME", help="Subject of the schema of written values. Default: TOPIC-value."
        ),
    ] = None
    to_key_subject: Annotated[
        str | None,
        typer.Option(
            "--to-key-subject", metavar="NAME", help="Subject of the schema of written keys. Default: TOPIC-key."
        ),
    ] = None
    to_value_subject_strategy: Annotated[
        str | None,
        KcliOption(
            "--to-value-subject-strategy",
            choices=STRATEGIES,
            help="How the subject of written values is chosen (default topic).",
        ),
    ] = None
    to_key_subject_strategy: Annotated[
        str | None,
        KcliOption(
            "--to-key-subject-strategy",
            choices=STRATEGIES,
            help="How the subject of written keys is chosen (default topic).",
        ),
    ] = None
    to_value_schema: Annotated[
        str | None,
        typer.Option(
            "--to-value-schema",
            metavar="SCHEMA",
            help="Schema of written values: latest (default), id:N or file:PATH; #NAME as with --reader-schema.",
        ),
    ] = None
    to_key_schema: Annotated[
        str | None,
        typer.Option(
            "--to-key-schema", metavar="SCHEMA", help="Schema of written keys, in the forms of --to-value-schema."
        ),
    ] = None
    register: Annotated[
        bool,
        typer.Option(
            "--register", help="Register the file of --to-value-schema or --to-key-schema, unless it is registered."
        ),
    ] = False
    to_schema_registry: Annotated[
        str | None,
        typer.Option(
            "--to-schema-registry",
            metavar="URL",
            help="The registry of --to-value-format and --to-key-format. Default: --schema-registry, else the "
            "profile's.",
        ),
    ] = None


class WrittenFormats:
    """The options of a command line. `registry` is that of the topics that are read. Raises UsageError."""

    def __init__(
        self, options: WrittenOptions, frame: Frame, *, topic: bool = True, registry: str | None = None
    ) -> None:
        self._options: dict[str, str] = {}
        forms = {"key": options.to_key_format, "value": options.to_value_format}
        self.typed = frozenset(part for part, form in forms.items() if form)
        """Which of key and value stay columns for the sink."""
        for part, word, option, given in _given(options):
            if given and part not in self.typed:
                raise UsageError(f"--to-{part}-{word} requires --to-{part}-format {', '.join(FORMS)}")
            if given:
                self._options[option] = absolute(given)
        self._options |= {f"{part}Format": form for part, form in forms.items() if form}
        if options.to_schema_registry and not self.typed:
            raise UsageError(f"--to-schema-registry requires --to-value-format {', '.join(FORMS)}")
        if options.register:
            if not any(text.startswith(FILE) for text in self._options.values()):
                raise UsageError("--register registers the file of --to-value-schema file:PATH or --to-key-schema")
            self._options["registerSchemas"] = "true"
        if self.typed:
            self._check(frame, topic)
            url = options.to_schema_registry or registry
            if url:
                self._options["schemaRegistry"] = absolute(url)

    def _check(self, frame: Frame, topic: bool) -> None:
        flag = f"--to-{'value' if 'value' in self.typed else 'key'}-format"
        if not topic:
            raise UsageError(f"{flag} needs a topic to write to: add --into TOPIC")
        if frame.connector == "jvm":
            raise UsageError(f"{flag} requires kcli's connector: Spark's own connector has no registry")

    def options(self, sink: Mapping[str, str]) -> dict[str, str]:
        """Those of kcli's sink, and what the line says. The schema of a file is found or registered now, once, as Spark
        asks for the sink again for each batch. Raises KcliError."""
        options = {**sink, **self._options}
        if not any(text.startswith(FILE) for text in self._options.values()):
            return options
        from kcli.pipeline.connection import guard_of, registry_settings
        from kcli.pipeline.schemas.wanted import wanted_of
        from kcli.pipeline.schemas.writing import looked_up_to_write

        given = {name.lower(): text for name, text in options.items()}
        settings, (guard, profile) = registry_settings(given), guard_of(given)
        of_files = [one for one in wanted_of(given, writes=True) if one.of_file]
        found = {one: looked_up_to_write(one, settings, guard=guard, profile=profile) for one in of_files}
        if any(sealed.reader.schema.id < 0 for sealed in found.values()):
            return options  # AWS Glue has no ids
        options.pop("registerSchemas", None)
        for one, sealed in found.items():
            options[one.option] = f"id:{sealed.reader.schema.id}" + (f"#{one.message}" if one.message else "")
        return options


def _given(options: WrittenOptions) -> list[tuple[str, str, str, str | None]]:
    """What the line says of each part: its flag behind `--to-key-` or `--to-value-`, the option of the sink, the
    text."""
    return [
        ("key", "subject", "keySubject", options.to_key_subject),
        ("key", "subject-strategy", "keySubjectStrategy", options.to_key_subject_strategy),
        ("key", "schema", "keyWriterSchema", options.to_key_schema),
        ("value", "subject", "valueSubject", options.to_value_subject),
        ("value", "subject-strategy", "valueSubjectStrategy", options.to_value_subject_strategy),
        ("value", "schema", "writerSchema", options.to_value_schema),
    ]
