"""`kcli registry delete`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes import schemas
from kcli.cli.commands.registry.describe import hinted
from kcli.cli.commands.registry.opened import Registry, RegistryOptions, opened, subject_of
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.answer import plural, words_of
from kcli.cli.runtime.change import apply_plan
from kcli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated

    import typer

    from kcli.changes import change as changes
    from kcli.changes.change import Plan


class DeletedRow(Row, section="versions"):
    subject: str = column("Name of the subject.", rank=1)
    version: int = column("The version.", rank=1)
    references: list[str] = column("Ids of the schemas that refer to it; it is not deleted then.")
    result: str = column("would delete, deleted, referenced, not soft-deleted, failed, unknown.", unit="word", rank=1)
    error: str | None = column("Why it was not deleted; null if it was.", table=False, unit="sentence")


SHAPE = shape("registry.delete", "Versions that were deleted, or would be, one a row.", DeletedRow)


class DeleteOptions(RegistryOptions, UndoOptions):
    permanent: Annotated[
        bool, typer.Option("--permanent", help="Permanently delete versions that are already soft-deleted.")
    ] = False


@command(
    "registry delete",
    help="Delete subjects, or versions of them.",
    words="SUBJECT[@VERSION]",
    examples="""
kcli registry delete orders-value@2
kcli registry delete orders-value --execute
kcli registry delete orders-value --permanent --execute""",
)
def delete(options: DeleteOptions) -> int:
    """Delete subjects, or single versions. A soft-deleted version is not listed, but records with its id can still be
    read; --permanent then deletes it for good. A version that other schemas refer to is not deleted. The plan comes
    first, --execute applies it. `kcli undo` registers them again.
    """
    places = [_place(word) for word in words_of(options, "SUBJECT")]

    async def planned(registry: Registry) -> Plan:
        keep = not (options.plan_only or options.no_undo)
        made = await schemas.plan_deletion(registry, places, permanent=options.permanent, keep=keep)
        made.failed = {about: await hinted(registry, problem, about) for about, problem in made.failed.items()}
        return made

    return apply_plan(
        *(options, SHAPE, DeletedRow, planned),
        opened=opened(options), done=_done, nothing="", refused="", verb="delete", noun="subject",
    )  # fmt: skip


def _place(word: str) -> schemas.Place:
    """Raises UsageError for the latest version, which may be another one by the time it is deleted."""
    subject, version = subject_of(word)
    if version is None and subject != word:
        raise UsageError(f"{word}: give the version as a number")
    return subject, version


def _done(rows: Sequence[changes.Row]) -> str:
    return f"{plural(sum(row.result == 'deleted' for row in rows), 'version')} deleted"
