"""`kcli registry check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes.schemas import reasons_against
from kcli.cli.commands.registry.compared import ReasonRow, SchemaFileOptions, rows_of
from kcli.cli.commands.registry.opened import FILE, Registry, opened, schema_of
from kcli.cli.output.failure import complain_of
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import OutputOptions
from kcli.cli.runtime.answer import answer, format_of, say
from kcli.cli.runtime.views import view_of
from kcli.errors import UsageError
from kcli.registry.errors import NotFound
from kcli.schemas import AVRO, JSON, PROTOBUF, Schema
from kcli.serde.avro.compatibility import BACKWARD, LEVELS, check, compared
from kcli.serde.avro.parse import parse
from kcli.serde.avro.strict import parse_strictly

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated

    import typer

    from kcli.serde.avro.compatibility import Violation

    Needing = tuple[Schema, list[Schema]]
    """A schema, and those that it refers to."""

INCOMPATIBLE = 3  # the exit code


SHAPE = shape(
    "registry.check", "Why a schema is incompatible, one reason per row; no rows if it is compatible.", ReasonRow
)


class CheckOptions(SchemaFileOptions, OutputOptions):
    all_versions: Annotated[
        bool, typer.Option("--all-versions", help="Compare with all versions, not only with the latest.")
    ] = False
    level: Annotated[
        str | None,
        typer.Option(
            "--level",
            metavar="LEVEL",
            help="Check against this level: Avro and Protobuf with kcli's own rules, JSON Schema with the registry's "
            "if it uses this level. SUBJECT can be file:PATH; then no registry is used.",
        ),
    ] = None


@command(
    "registry check",
    help="Check a schema's compatibility; exit 3 if it is incompatible.",
    words="SUBJECT FILE",
    examples="""
kcli registry check orders-value orders.avsc
kcli registry check orders-value orders.avsc --all-versions
kcli registry check orders-value orders.avsc --level full-transitive
kcli registry check file:v1.avsc file:v2.avsc v3.avsc --level backward-transitive""",
)
def check_schema(options: CheckOptions) -> int:
    """Check whether the schema of a FILE may become the next version of a SUBJECT, according to the subject's level in
    the registry. Nothing is registered. Exit code 3 if it is incompatible, with the reasons.

    A LEVEL is NONE, BACKWARD, FORWARD or FULL, each also with _TRANSITIVE.
    """
    if len(options.words) < 2:
        raise UsageError("expected a subject and a file: kcli registry check SUBJECT FILE")
    *others, path = options.words
    level = level_named(options.level)
    schema = options.schema(path)
    files = [word for word in others if word.startswith(FILE)]
    if files and (len(files) < len(others) or not level):
        raise UsageError("file:PATH instead of a subject requires --level, and only other files")
    if not files and len(others) > 1:
        raise UsageError(f"unexpected argument {others[1]!r}: one subject, then the file")
    if files:
        return _by_files(options, files, schema, level)

    async def work(registry: Registry, document: Document) -> int | None:
        rows = document.of(ReasonRow)
        if schema.kind == AVRO:  # some registries take in what no reader of Java's does
            parse_strictly(schema.text, [one.text for one in await registry.needed(schema)])
        if level and schema.kind == JSON:
            rows += await _by_registry(registry, others[0], schema, level)
        elif level:
            rows += await _by_versions(registry, others[0], schema, level)
        else:
            reasons = await reasons_against(registry.client, others[0], schema, every=options.all_versions)
            rows += rows_of(others[0], reasons)
        note = "" if rows else await _new(registry, others[0])
        return _verdict(options, document, others[0], level or await _level(registry, others[0]), note)

    return answer(options, SHAPE, work, opened=opened(options))


async def _new(registry: Registry, subject: str) -> str:
    """What to say of a subject that the registry does not have, which any schema goes with: it may be mistyped."""
    try:
        await registry.client.version(subject)
    except NotFound as problem:
        hint = await registry.client.hint(problem, subject)
        return f"; the registry has no such subject, so nothing was compared{hint}"
    return ""


async def _level(registry: Registry, subject: str) -> str:
    """The level that applies; of a subject that is new, the global one."""
    try:
        return await registry.client.level(subject)
    except NotFound:
        return await registry.client.level()


def level_named(name: str | None) -> str:
    """A compatibility level as registries write it, "" for none. Raises UsageError."""
    if name is None:
        return ""
    level = name.upper().replace("-", "_")
    if level not in LEVELS:
        raise UsageError(f"unknown compatibility level {name}; the levels are {', '.join(LEVELS)}")
    return level


def _verdict(options: CheckOptions, document: Document, subject: str, level: str, note: str = "") -> int | None:
    broken = bool(document.of(ReasonRow))
    say(options, f"{subject}: the schema is {'incompatible' if broken else 'compatible'} (level {level}){note}")
    return INCOMPATIBLE if broken else None


def _by_files(options: CheckOptions, files: list[str], schema: Schema, level: str) -> int:
    """Against files, the oldest first; no registry is asked."""
    document = Document(shape=SHAPE, view=view_of(options))
    if schema.kind == AVRO:
        parse_strictly(schema.text)
    others = [(schema_of(word.removeprefix(FILE), schema.kind), list[Schema]()) for word in files]
    document.of(ReasonRow).extend(_reasons(level, (schema, []), others, [(word, None) for word in files]))
    code = _verdict(options, document, files[-1], level)
    if format_of(options) != "table" or document.of(ReasonRow):
        write(document, format_of(options))
    complain_of(document)
    return code or 0


async def _by_registry(registry: Registry, subject: str, schema: Schema, level: str) -> list[ReasonRow]:
    """The verdict of the registry about a JSON schema, which kcli has no rules for. Raises UsageError where the
    registry compares by another level."""
    own = level if level == "NONE" else await _level(registry, subject)
    if own != level:
        raise UsageError(
            f"--level {level}: kcli does not compare JSON schemas itself, and the registry uses the level {own} of "
            f"{subject}; omit --level, or set the level: kcli registry compat {subject} --set {level}"
        )
    every = level.endswith("_TRANSITIVE")
    reasons = [] if level == "NONE" else await reasons_against(registry.client, subject, schema, every=every)
    return rows_of(subject, reasons)


async def _by_versions(registry: Registry, subject: str, schema: Schema, level: str) -> list[ReasonRow]:
    """Against the versions that the registry has."""
    try:
        numbers: Sequence[int] = await registry.client.versions(subject)
    except NotFound:
        numbers = []
    numbers = compared(level, numbers)
    found = [await registry.client.version(subject, number) for number in numbers]
    versions = [(one, await registry.needed(one)) for one in found]
    new = schema, await registry.needed(schema)
    return _reasons(level, new, versions, [(subject, number) for number in numbers])


def _violations(level: str, new: Needing, versions: list[Needing]) -> list[Violation]:
    """Raises UsageError for a schema of another type, SchemaRefused."""
    kind = new[0].kind
    if kind == JSON:
        raise UsageError(
            "--level: kcli does not compare JSON schemas itself; give a subject, so that the registry does"
        )
    for schema, _ in versions:
        if schema.kind != kind:
            raise UsageError(f"{schema.name} has the type {schema.kind}, but the new schema {kind}")
    if kind == PROTOBUF:
        from kcli.serde.protobuf.compatibility import incompatibilities
        from kcli.serde.protobuf.reader import parsed_schema

        read = [parsed_schema(schema.text, tuple(one.text for one in needed)) for schema, needed in (new, *versions)]
        return check(level, read[0], read[1:], incompatibilities)
    types = [parse(schema.text, [one.text for one in needed]) for schema, needed in (new, *versions)]
    return check(level, types[0], types[1:])


def _reasons(
    level: str, new: Needing, versions: list[Needing], places: list[tuple[str, int | None]]
) -> list[ReasonRow]:
    rows = []
    for violation in _violations(level, new, versions):
        subject, version = places[violation.version]
        type, location, message = violation.reason
        rows.append(
            ReasonRow(
                subject=subject,
                version=version,
                direction=violation.direction,
                type=type,
                location=location,
                why=_sentence(type, message, violation.direction),
            )
        )
    return rows


def _sentence(type: str, message: str, direction: str) -> str:
    """Avro's words, where they are no sentence by themselves."""
    reader = "the new schema" if direction == BACKWARD else "the old schema"
    if type == "READER_FIELD_MISSING_DEFAULT_VALUE":
        return f"the field {message} of {reader} has no default and is missing in the other schema"
    if type == "MISSING_ENUM_SYMBOLS":
        return f"{reader} lacks the symbols {message}"
    return message
