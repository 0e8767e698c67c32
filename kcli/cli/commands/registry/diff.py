"""`kcli registry diff` and `kcli registry versions`: what changed, and which level the change keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.registry.describe import hinted
from kcli.cli.commands.registry.opened import Registry, RegistryOptions, opened
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer, say, words_of
from kcli.errors import KcliError, UsageError
from kcli.registry.listing.history import Version, changed, history

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.output.tables.document import Document
    from kcli.schemas import Schema
    from kcli.serde.schemas.difference import Difference

DIFFERS = 3  # the exit code


class DifferenceRow(Row, section="changes"):
    field: str = column("The field, such as items[].price; empty for the schema itself.", rank=1)
    action: str = column("added, removed, renamed, type, default, symbols, size, name or line.", unit="word", rank=1)
    old: str | None = column("Old value; null if there was none.", rank=1)
    new: str | None = column("New value; null if there is none.", rank=1)


class VersionRow(Row, section="versions"):
    subject: str = column("Name of the subject.", table=False, rank=3)
    version: int = column("The version.", rank=1)
    id: int | None = column("Id of its schema.", rank=1)
    type: str = column("AVRO, PROTOBUF or JSON.", unit="word", rank=3)
    level: str | None = column(
        "Compatibility level with the previous version; null for the first.", unit="word", rank=1
    )
    note: str = column("What changed since the previous version.", unit="sentence", rank=1)


SHAPE = shape(
    "registry.diff", "What differs between two schemas, one change a row.", DifferenceRow, empty="no differences"
)
VERSIONS = shape("registry.versions", "Versions of a subject with their changes, one a row.", VersionRow)


class DiffOptions(RegistryOptions, ReadOptions):
    pass


class VersionsOptions(RegistryOptions, ReadOptions):
    deleted: Annotated[bool, typer.Option("--deleted", help="Include soft-deleted versions.")] = False


@command(
    "registry diff",
    help="Compare two schemas field by field; exit 3 on a difference.",
    words="SCHEMA",
    examples="""
kcli registry diff orders-value                  # its last two versions
kcli registry diff orders-value 1 2
kcli registry diff orders-value@1 orders-value@2
kcli registry diff orders-value file:orders.avsc
kcli registry diff 17 18 -J""",
)
def diff(options: DiffOptions) -> int:
    """Print the differences between two schemas, field by field, and the compatibility level that the change keeps.
    Each is SUBJECT[@VERSION], an id, a GUID or file:PATH. Schemas that are not Avro are compared line by line. Exit
    code 3 if they differ."""
    words = options.words
    if len(words) == 3 and words[1].isdecimal() and words[2].isdecimal():
        words = [f"{words[0]}@{words[1]}", f"{words[0]}@{words[2]}"]
    if len(words) not in (1, 2):
        raise UsageError("expected two schemas: kcli registry diff SUBJECT@1 SUBJECT@2, or a subject")

    async def work(registry: Registry, document: Document) -> int | None:
        found: list[Schema] = []
        for word in words if len(words) == 2 else await _last_two(registry, words[0], document):
            try:
                found.append(await registry.named(word))
            except KcliError as problem:
                document.fail(await hinted(registry, problem, word), word)
        if len(found) < 2:
            return None
        changes, level = await changed(registry, *found)
        document.of(DifferenceRow).extend(_row(change) for change in changes)
        if changes and level:
            say(options, f"the change keeps the level {level}")
        return DIFFERS if changes else None

    return answer(options, SHAPE, work, opened=opened(options))


async def _last_two(registry: Registry, subject: str, document: Document) -> list[str]:
    """The last two versions of a subject; an error of the document where it has fewer."""
    try:
        versions = sorted(await registry.client.versions(subject))
        if len(versions) < 2:
            raise KcliError(f"{subject} has only version {versions[0]}; give another schema to compare it with")
    except KcliError as problem:
        document.fail(await hinted(registry, problem, subject), subject)
        return []
    return [f"{subject}@{version}" for version in versions[-2:]]


@command(
    "registry versions",
    help="List a subject's versions and what changed in each.",
    words="SUBJECT",
    examples="""
kcli registry versions orders-value
kcli registry history orders-value -J""",
)
def versions(options: VersionsOptions) -> int:
    """Print the versions of subjects: what changed since the previous version, and the compatibility level that the
    change keeps."""
    subjects = words_of(options, "SUBJECT")

    async def work(registry: Registry, document: Document) -> None:
        rows = document.of(VersionRow)
        for subject in subjects:
            try:
                found = await history(registry, subject, deleted=options.deleted)
                rows += [_version(subject, version) for version in found]
            except KcliError as problem:
                document.fail(await hinted(registry, problem, subject), subject)

    return answer(options, VERSIONS, work, opened=opened(options))


def _version(subject: str, version: Version) -> VersionRow:
    schema = version.schema
    return VersionRow(
        subject=subject,
        version=schema.version,
        id=schema.id if schema.id >= 0 else None,
        type=schema.kind,
        level=version.level or None,
        note=version.note,
    )


def _row(change: Difference) -> DifferenceRow:
    return DifferenceRow(field=change.path, action=change.change, old=change.old, new=change.new)
