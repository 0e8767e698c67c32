"""`kcli registry list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.registry.opened import Registry, RegistryOptions, opened
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import PatternOptions, ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.errors import KcliError, UsageError
from kcli.registry.listing.latest import latest_of, levels_of
from kcli.registry.listing.names import subject_names
from kcli.registry.subjects import listed_by, split
from kcli.text.names import Names

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.output.tables.document import Document
    from kcli.schemas import Schema


class SubjectRow(Row, section="subjects"):
    subject: str = column("Name of the subject.", rank=1)
    version: int | None = column("The latest version.", rank=1)
    type: str | None = column("AVRO, PROTOBUF or JSON.", unit="word", rank=1)
    id: int | None = column("Id of the latest version's schema.", rank=1)
    level: str | None = column("Compatibility level; with --levels.", sparse=True, unit="word", rank=2)
    mode: str | None = column("Mode; with --levels.", sparse=True, unit="word", rank=3)


SHAPE = shape("registry.list", "Subjects of a schema registry, one a row.", SubjectRow, empty="no subjects")


class ListOptions(RegistryOptions, PatternOptions, ReadOptions):
    deleted: Annotated[bool, typer.Option("--deleted", help="Include soft-deleted subjects.")] = False
    context: Annotated[
        str | None, typer.Option("--context", metavar="NAME", help="Subjects of this context; * is every context.")
    ] = None
    levels: Annotated[
        bool, typer.Option("--levels", help="Print the level and the mode of each subject: two requests each.")
    ] = False
    unused: Annotated[
        bool,
        typer.Option(
            "--unused", help="Only subjects TOPIC-key and TOPIC-value whose topic does not exist in the cluster."
        ),
    ] = False


@command(
    "registry list",
    help="List subjects with their latest schema.",
    words="SUBJECT",
    examples="""
kcli registry list
kcli registry list 'orders-*' --levels
kcli registry list ':.staging:orders-*' -J
kcli registry list --unused                     # no topic of that name""",
)
def list_all(options: ListOptions) -> int:
    """Print the subjects of a schema registry: the latest version, its type and its id. A SUBJECT is a name or a "
    "pattern; with a context in front, it means names in that context: ':.staging:' is all subjects of .staging, "
    "':*:orders-*' matches in every context. Without a SUBJECT, kcli lists all subjects."""
    names = subject_names(options.words, literal=options.literal, context=options.context or "")

    async def work(registry: Registry, document: Document) -> None:
        rows = document.of(SubjectRow)
        rows += await _subjects(registry, names, options, document)
        if options.unused:
            topics = await _topics(registry)
            rows[:] = [row for row in rows if unused(row.subject, topics)]
        if options.levels:
            levels = await levels_of(registry.client, [row.subject for row in rows])
            for row in rows:
                row.level, row.mode = levels[row.subject]

    return answer(options, SHAPE, work, opened=opened(options))


async def _subjects(registry: Registry, names: Names, options: ListOptions, document: Document) -> list[SubjectRow]:
    every = options.context in (None, "", "*")  # which a registry answers without a prefix
    context = "" if every else listed_by(options.context or "")
    known = await registry.client.subjects(context, deleted=options.deleted)
    match = names.among(known)
    if match.unmatched:
        raise KcliError(f"{', '.join(match.unmatched)}: no subject matches")
    absent = [name for name in match.names if name not in set(known)]
    for name in absent:
        from kcli.cli.runtime.answer import missing

        missing(document, name, KcliError(f"{name}: the registry has no such subject"), known)
    wanted = [name for name in match.names if name not in absent] if names.words else sorted(known)
    latest = await latest_of(registry.client, wanted, context=context, deleted=options.deleted)
    return [_row(name, latest.get(name)) for name in wanted]


def _row(subject: str, schema: Schema | None) -> SubjectRow:
    if schema is None:
        return SubjectRow(subject=subject, version=None, type=None, id=None, level=None, mode=None)
    number = schema.id if schema.id >= 0 else None
    return SubjectRow(subject=subject, version=schema.version, type=schema.kind, id=number, level=None, mode=None)


async def _topics(registry: Registry) -> set[str]:
    from kcli.admin.topics.topics import describe_topics
    from kcli.client import Client

    if not registry.cluster.bootstrap:
        raise UsageError("--unused compares with the topics of a cluster: choose one with -b HOST:PORT")
    async with Client(registry.cluster) as client:
        return set(await describe_topics(client.cluster))


def unused(subject: str, topics: set[str]) -> bool:
    """Whether a subject is named after a topic that does not exist."""
    name = split(subject)[1]
    topic = next((name.removesuffix(end) for end in ("-value", "-key") if name.endswith(end)), None)
    return topic is not None and topic not in topics
