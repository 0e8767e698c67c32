"""`kcli registry describe`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.registry.opened import Registry, RegistryOptions, opened
from kcli.cli.output.tables.render import render
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer, say, words_of
from kcli.errors import KcliError, UsageError
from kcli.registry.errors import NotFound, RegistryError
from kcli.registry.listing.history import pretty
from kcli.schemas import AVRO, KINDS, PROTOBUF, SchemaRefused
from kcli.text.escape import visible

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.terminal import Terminal
    from kcli.schemas import Schema


class SchemaRow(Row, section="schemas"):
    subject: str | None = column("Subject, if the registry reports one.", rank=1)
    version: int | None = column("Version of the subject.", rank=1)
    id: int | None = column("Id of the schema.", rank=1)
    guid: str | None = column("GUID of the schema; null if the registry has none.", rank=3)
    type: str = column("AVRO, PROTOBUF or JSON.", unit="word")
    schema: str = column("Text of the schema.", rank=1)
    references: list[str] = column("What it imports, each as NAME=SUBJECT@VERSION.")
    metadata: str | None = column("Metadata of the data contract, as JSON.", sparse=True)
    rules: str | None = column("Rules of the data contract, as JSON.", sparse=True)


FORMS = {"default": KINDS, "resolved": (AVRO,), "serialized": (PROTOBUF,), "ignore_extensions": (PROTOBUF,)}
"""What Confluent's registry makes of a text, and of which kinds. It answers the text as it is for any other word."""

SHAPE = shape("registry.describe", "Schemas of a registry, one a row.", SchemaRow)


class DescribeOptions(RegistryOptions, ReadOptions):
    resolved: Annotated[
        bool, typer.Option("--resolved", help="Include the types that an Avro schema refers to in its text.")
    ] = False
    references: Annotated[
        bool, typer.Option("--references", help="Also print the schemas that it refers to, before it.")
    ] = False
    deleted: Annotated[bool, typer.Option("--deleted", help="Include soft-deleted versions.")] = False
    schema_format: Annotated[
        str | None,
        typer.Option(
            "--schema-format",
            metavar="NAME",
            help="Request the text in a format of the registry: resolved (Avro); serialized, ignore_extensions "
            "(Protobuf).",
        ),
    ] = None


@command(
    "registry describe",
    help="Print a schema.",
    words="SUBJECT[@VERSION]|ID|GUID",
    examples="""
kcli registry describe orders-value > orders.avsc
kcli registry get orders-value@3
kcli registry get 17 --resolved
kcli registry get orders-value --schema-format resolved
kcli registry get orders-value -J               # with its id, references and rules""",
)
def describe(options: DescribeOptions) -> int:
    """Print the text of a schema: the latest or another version of a subject, or the schema with an id or a GUID. JSON
    is indented. -J adds everything else that the registry reports."""
    words = words_of(options, "SUBJECT, id or GUID")
    if options.resolved and options.references:
        raise UsageError("--resolved and --references cannot be combined")
    form = options.schema_format or ""
    if form and form not in FORMS:
        raise UsageError(
            f"--schema-format {form}: expected resolved (Avro), serialized or ignore_extensions (Protobuf)"
        )

    async def work(registry: Registry, document: Document) -> None:
        for word in words:
            try:
                schema = await registry.named(word, deleted=options.deleted, format=form)
                _check_form(schema, form, registry.name)
                needed = await registry.needed(schema) if options.references or options.resolved else []
            except KcliError as problem:
                document.fail(await hinted(registry, problem, word), word)
                continue
            if options.resolved and needed:
                schema = _with_types(schema, needed)
            elif options.references:
                document.of(SchemaRow).extend(row_of(one) for one in needed)
            document.of(SchemaRow).append(row_of(schema))
            say(options, visible(f"{schema.name}{f': id {schema.id}' if schema.id >= 0 else ''}, {schema.kind}"))

    return answer(options, SHAPE, work, _printed, opened(options))


def row_of(schema: Schema) -> SchemaRow:
    return SchemaRow(
        subject=schema.subject or None,
        version=schema.version if schema.version >= 0 else None,
        id=schema.id if schema.id >= 0 else None,
        guid=schema.guid or None,
        type=schema.kind,
        schema=schema.text,
        references=[f"{one.name}={one.subject}@{one.version}" for one in schema.references],
        metadata=schema.metadata or None,
        rules=schema.rule_set or None,
    )


async def hinted(registry: Registry, problem: KcliError, word: str) -> KcliError:
    """The error with the nearest names, or the versions that there are."""
    if not isinstance(problem, RegistryError):
        return problem
    from kcli.cli.commands.registry.opened import subject_of

    hint = await registry.client.hint(problem, subject_of(word)[0])
    return NotFound(f"{problem}{hint}", problem.status, problem.code) if hint else problem


def _check_form(schema: Schema, form: str, registry: str) -> None:
    """Raises UsageError for a form that schemas of this kind do not have, KcliError where the registry answered the
    text as it is: some ignore what they do not know."""
    if form and schema.kind not in FORMS[form]:
        raise UsageError(
            f"--schema-format {form}: {schema.name} has the type {schema.kind}, which does not have this format"
        )
    if form == "serialized":
        from kcli.serde.protobuf.reader import is_descriptor

        if not is_descriptor(schema.text.strip()):
            raise KcliError(f"--schema-format {form}: {registry} does not provide this format of {schema.name}")
    if form == "resolved" and schema.references:
        from kcli.serde.avro.parse import parse

        try:
            parse(schema.text)
        except SchemaRefused:
            raise KcliError(
                f"--schema-format {form}: {registry} does not provide this format of {schema.name}; --resolved "
                f"includes the types"
            ) from None


def _with_types(schema: Schema, needed: list[Schema]) -> Schema:
    """Raises UsageError for a schema that is none of Avro's."""
    if schema.kind != AVRO:
        raise UsageError(f"--resolved: {schema.name} has the type {schema.kind}; --resolved works only with AVRO")
    from kcli.serde.avro.resolved import resolved

    return schema.replace(text=resolved(schema.text, [one.text for one in needed]), references=())


def _printed(document: Document, format: str, terminal: Terminal | None) -> str:
    """The texts alone, where no other format is wanted."""
    if format != "table" or document.view.columns:
        return render(document, format, terminal)
    shown = "".join(f"{pretty(row.schema, row.type)}\n" for row in document.of(SchemaRow))
    return shown if terminal is None else visible(shown, keep="\n\t")
