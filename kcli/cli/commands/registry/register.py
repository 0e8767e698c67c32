"""`kcli registry register`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.registry.compared import ReasonRow, SchemaFileOptions, rows_of, verdict_of
from kcli.cli.commands.registry.opened import Registry, opened
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.parsing.option import flag, integer
from kcli.cli.runtime.answer import say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError, UsageError
from kcli.registry.errors import Incompatible, NotFound, Unsupported

if TYPE_CHECKING:
    from kcli.cli.output.tables.document import Document
    from kcli.schemas import Schema


class RegisterRow(Row, section="schemas"):
    subject: str = column("Name of the subject.", rank=1)
    version: int | None = column("Version; null where the registry has not said it.", rank=1)
    id: int | None = column("Id of the schema; null before it is registered.", rank=1)
    type: str = column("AVRO, PROTOBUF or JSON.", unit="word")
    result: str = column("would register, registered, known or failed.", unit="word", rank=1)
    error: str | None = column("Why it was refused; null when it was not.", table=False, unit="sentence")


SHAPE = shape(
    "registry.register", "A schema that was registered, or would be; why it is refused.", RegisterRow, ReasonRow
)


class RegisterOptions(SchemaFileOptions, ChangeOptions):
    normalize = flag("--normalize", help="Let the registry compare and keep the schema in its normal form.")
    id = integer("--id", least=0, help="Register it under this id; the subject's mode must be IMPORT.")
    version = integer("--version", least=1, help="With --id: under this version.")


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
    """Register the schema of a FILE (- is stdin) under a SUBJECT. The plan says whether the subject has it already, and
    whether the registry finds it compatible; an incompatible one is refused, with the reasons. --execute registers it.
    """
    if len(options.words) != 2:
        raise UsageError("expected a subject and a file: kcli registry register SUBJECT FILE")
    if options.version is not None and options.id is None:
        raise UsageError("--version goes with --id")
    subject, path = options.words
    schema = options.schema(path)

    async def make_plan(registry: Registry, document: Document) -> PlannedChange | None:
        row, reasons = await _row(registry, subject, schema, options)
        document.of(RegisterRow).append(row)
        document.of(ReasonRow).extend(rows_of(subject, reasons))
        if reasons:
            refused = Incompatible(subject, tuple(reasons), 0, 0)
            row.result, row.error = "failed", str(refused)
            document.fail(refused, subject)
        if row.result != "would register":
            if row.result == "known":
                with_id = "" if row.id is None else f", id {row.id}"
                say(options, f"{subject} has this schema already: version {row.version}{with_id}")
            return None

        async def carry_out() -> int | None:
            try:
                done = await _register(registry, subject, schema, options, row)
            except KcliError as problem:
                row.result, row.error = "failed", str(problem)
                document.fail(problem, subject)
                return None
            say(options, f"{subject}: registered with {f'id {row.id}' if row.id is not None else f'UUID {done.guid}'}")
            return None

        return PlannedChange(names=[subject], carry_out=carry_out, adds=True)

    return make_change(options, SHAPE, make_plan, opened(options))


async def _row(
    registry: Registry, subject: str, schema: Schema, options: RegisterOptions
) -> tuple[RegisterRow, list[str]]:
    """The plan: whether the schema is known, and why it would be refused."""
    row = RegisterRow(
        subject=subject, version=options.version, id=options.id, type=schema.kind, result="would register", error=None
    )
    try:
        known = await registry.client.lookup(subject, schema, normalize=options.normalize)
    except NotFound:
        pass
    else:
        row.version, row.id, row.result = known.version, _id(known), "known"
        return row, []
    if options.id is not None:
        return row, []  # in mode IMPORT nothing is compared
    try:
        return row, await verdict_of(registry, subject, schema, every=False, normalize=options.normalize)
    except Unsupported:
        return row, []  # the registry compares when it registers


async def _register(
    registry: Registry, subject: str, schema: Schema, options: RegisterOptions, row: RegisterRow
) -> Schema:
    if options.id is not None:
        schema = schema.replace(id=options.id, version=-1 if options.version is None else options.version)
    done = await registry.client.register(subject, schema, normalize=options.normalize, imported=options.id is not None)
    if done.version < 0:
        done = await registry.client.lookup(subject, schema, normalize=options.normalize)
    row.version, row.id, row.result = done.version, _id(done), "registered"
    return done


def _id(schema: Schema) -> int | None:
    """None where the registry has no ids: AWS Glue's has UUIDs."""
    return schema.id if schema.id >= 0 else None
