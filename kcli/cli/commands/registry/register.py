"""`kcli registry register`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes import schemas
from kcli.cli.commands.registry.compared import ReasonRow, SchemaFileOptions, rows_of
from kcli.cli.commands.registry.opened import Registry, opened
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.change import PlannedChange, make_change, of_plan
from kcli.errors import UsageError
from kcli.registry.errors import Incompatible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated

    import typer

    from kcli.changes import change as changes
    from kcli.cli.output.tables.document import Document


class RegisterRow(Row, section="schemas"):
    subject: str = column("Name of the subject.", rank=1)
    version: int | None = column("Version; null if the registry has not reported it.", rank=1)
    id: int | None = column("Id of the schema; null before it is registered.", rank=1)
    type: str = column("AVRO, PROTOBUF or JSON.", unit="word")
    result: str = column("would register, registered, known, failed or unknown.", unit="word", rank=1)
    error: str | None = column("Why it was refused; null if it was not.", table=False, unit="sentence")


SHAPE = shape(
    "registry.register", "A schema that was registered, or would be; why it was refused.", RegisterRow, ReasonRow
)


class RegisterOptions(SchemaFileOptions, UndoOptions):
    normalize: Annotated[
        bool,
        typer.Option("--normalize", help="Let the registry normalize the schema before it compares and stores it."),
    ] = False
    id: Annotated[
        int | None, typer.Option("--id", min=0, help="Register it under this id; the subject's mode must be IMPORT.")
    ] = None
    version: Annotated[int | None, typer.Option("--version", min=1, help="With --id: under this version.")] = None


@command(
    "registry register",
    help="Register a schema under a subject.",
    words="SUBJECT FILE",
    examples="""
kcli registry register orders-value orders.avsc
kcli registry register orders-value orders.avsc --execute
kcli registry register orders-value orders.proto --reference money.proto=money@2 --execute
jq .schema old.json -r | kcli registry register orders-value - --execute""",
)
def register(options: RegisterOptions) -> int:
    """Register the schema of a FILE (- is stdin) under a SUBJECT. The plan shows whether the subject already has it and
    whether it is compatible according to the registry; an incompatible schema is refused, with the reasons. --execute
    registers it.
    """
    if len(options.words) != 2:
        raise UsageError("expected a subject and a file: kcli registry register SUBJECT FILE")
    if options.version is not None and options.id is None:
        raise UsageError("--version requires --id")
    subject, path = options.words
    schema = options.schema(path)

    if options.id is not None:
        schema = schema.replace(id=options.id, version=-1 if options.version is None else options.version)

    async def make_plan(registry: Registry, document: Document) -> PlannedChange | None:
        made = await schemas.plan_registration(registry, subject, schema, normalize=options.normalize)
        (row,) = made.rows
        if isinstance(row.error, Incompatible):
            document.of(ReasonRow).extend(rows_of(subject, row.error.reasons))
        nothing = _said(made.rows) if row.result == "known" else ""
        return of_plan(
            *(options, document, (RegisterRow,), registry, made),
            names=[subject],
            done=_said,
            nothing=nothing,
            refused="",
        )

    return make_change(options, SHAPE, make_plan, opened(options))


def _said(rows: Sequence[changes.Row]) -> str:
    """What became of the schema, or that the subject has it already."""
    (row,) = rows
    assert isinstance(row, schemas.RegisteredRow)
    move = row.move
    if row.result == "known":
        return f"{row.name} already has this schema: version {move.version}{f', id {move.id}' * (move.id is not None)}"
    name = f"id {move.id}" if move.id is not None else f"UUID {move.schema.guid}"
    return f"{row.name}: registered with {name}" if row.result == "registered" else ""
