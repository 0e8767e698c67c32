"""`kcli streams reset`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes import offset_forms, streams
from kcli.changes.offset_forms import now_ms
from kcli.cli.commands.groups.changes import ChangeRow
from kcli.cli.commands.groups.remove_members import RemovedRow
from kcli.cli.commands.groups.reset.forms import FORMS, FormOptions, check_form, form_of, read_offsets
from kcli.cli.commands.topics.delete import DeletedRow
from kcli.cli.output.tables.rows import shape
from kcli.cli.output.timestamps import utc
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.answer import say
from kcli.cli.runtime.change import make_change, of_plan
from kcli.errors import UsageError
from kcli.text.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Annotated

    import typer

    from kcli.changes.change import Row
    from kcli.changes.offset_forms import Form, Prepare, Rewind
    from kcli.cli.output.tables.document import Document
    from kcli.cli.parsing.shared import KcliOption
    from kcli.cli.runtime.change import PlannedChange
    from kcli.model import Cluster, TopicPartition

SHAPE = shape(
    "streams.reset",
    "Offsets of an application that were reset, or would be, and internal topics and members that were removed, or "
    "would be.",
    RemovedRow,
    ChangeRow,
    DeletedRow,
)


class ResetOptions(FormOptions, UndoOptions):
    application: Annotated[
        str | None,
        KcliOption("--application-id", metavar="ID", help="The application, instead of an argument.", hidden=True),
    ] = None
    inputs: Annotated[
        list[str],
        KcliOption(
            "--input-topic", metavar="TOPIC,…", help="Topics that it reads. Repeatable.", also=("--input-topics",)
        ),
    ]
    intermediates: Annotated[
        list[str],
        KcliOption(
            "--intermediate-topic",
            metavar="TOPIC,…",
            help="Topics that it writes and reads; they are reset to their end. Repeatable.",
            also=("--intermediate-topics",),
        ),
    ]
    internal: Annotated[
        list[str],
        KcliOption(
            "--internal-topic",
            metavar="TOPIC,…",
            help="Internal topics to delete (default: all). Repeatable.",
            also=("--internal-topics",),
        ),
    ]
    all_topics: Annotated[
        bool, typer.Option("--all-topics", help="Also all other topics that it has committed offsets for.")
    ] = False
    keep_internal: Annotated[bool, typer.Option("--keep-internal-topics", help="Delete no internal topic.")] = False
    force: Annotated[
        bool, typer.Option("--force", help="Remove its members first: those that died and did not leave.")
    ] = False


@command(
    "streams reset",
    help="Reset a Kafka Streams application.",
    words="APPLICATION",
    examples="""
kcli streams reset wordcount --input-topic lines               # the plan
kcli streams reset wordcount --all-topics --execute
kcli streams reset wordcount --input-topic lines,orders --to-datetime 2026-01-31T10:00:00Z --execute
kcli streams reset wordcount --input-topic lines --from-file offsets.csv --execute
kcli streams reset wordcount --input-topic lines --keep-internal-topics --execute""",
)
def reset(options: ResetOptions) -> int:
    """Reset an application without members, so that it processes its input again, as kafka-streams-application-reset
    does: input topics are reset to their beginning (or where an option says), intermediate topics to their end, and
    internal topics (changelogs, repartition topics) are deleted. The plan comes first; --execute applies it.

    --from-file names an offset for each partition of the input topics. --force removes members that died and would stay
    until their session times out. Stop all instances first: a member that still runs joins again, and the reset fails.
    Kafka removes members of classic and consumer groups only, not those of `group.protocol=streams`.

    `kcli undo` restores the offsets. Deleted topics cannot be restored. Clean up the local state of each instance
    (state.dir) before you start it again.
    """
    application = _application(options)
    prepare = _form(options, application)
    wanted = streams.Reset(
        application=application,
        inputs=_listed(options.inputs),
        intermediates=_listed(options.intermediates),
        internal=[] if options.keep_internal else _listed(options.internal) or None,
        committed=options.all_topics,
        force=options.force,
        prepare=prepare,
    )

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        if not (wanted.inputs or wanted.intermediates or wanted.committed):
            say(options, "no topics are given, so offsets are not reset; --input-topic or --all-topics resets them")
        plan = await streams.plan(cluster, wanted)
        kinds = (RemovedRow, ChangeRow, DeletedRow)
        return of_plan(*(options, document, kinds, cluster, plan), names=[application], done=_done)

    return make_change(options, SHAPE, make_plan)


def _application(options: ResetOptions) -> str:
    names = [*options.words, *filter(None, [options.application])]
    if len(names) != 1:
        raise UsageError(
            "missing argument: kcli streams reset APPLICATION" if not names else "give only one application"
        )
    if options.keep_internal and options.internal:
        raise UsageError("--internal-topic and --keep-internal-topics cannot be combined")
    return names[0]


def _form(options: ResetOptions, application: str) -> Prepare | Rewind:
    """Where input topics go: to their beginning unless an option says it. Raises UsageError."""
    if options.from_group is not None:
        raise UsageError("--from-group is an option of `kcli groups reset`")
    if not FORMS.keys() & options.given().keys():
        return offset_forms.ready(offset_forms.earliest)
    check_form(options)
    if options.from_file is not None:
        return _of_file(options.from_file, application)
    prepare, moment = form_of(options, now_ms(), options)
    if moment is not None:
        say(options, f"to {utc(moment)}")
    return prepare


def _of_file(path: str, application: str) -> Prepare:
    """The offsets of a file, which has one for each partition that is an input, and no others. Raises UsageError."""
    saved = read_offsets(path)
    commits = saved.groups.get(application, saved.groups.get(""))
    if commits is None:
        raise UsageError(f"{path} has the offsets of {', '.join(list(saved.groups)[:5])}, not of {application}")

    async def prepare(cluster: Cluster, partitions: list[TopicPartition]) -> Form:
        if others := sorted(commits.keys() - {*partitions}):
            raise UsageError(
                f"{path} has an offset of {others[0].topic} [{others[0].partition}], which is not an input topic"
            )
        return offset_forms.given(commits, plain=saved.plain)

    return prepare


def _listed(texts: Iterable[str]) -> list[str]:
    """The names of `a,b` and `c`."""
    return list(dict.fromkeys(name for text in texts for name in text.split(",") if name))


def _done(rows: Sequence[Row]) -> str:
    offsets, topics, members = (
        sum((row.section, row.result) == done for row in rows)
        for done in (("partitions", "reset"), ("topics", "deleted"), ("members", "removed"))
    )
    removed = f"{counted(members, 'member')} removed, " if members else ""
    return (
        f"{removed}{offsets} offsets reset, {topics} internal topics deleted; clean up the local state of each instance"
    )
