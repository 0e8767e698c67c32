"""`kcli registry delete`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes.change import Undo
from kcli.cli.commands.registry.describe import hinted
from kcli.cli.commands.registry.opened import Registry, RegistryOptions, opened, subject_of
from kcli.cli.commands.registry.transfer.moves import undo_in
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.parsing.option import flag
from kcli.cli.runtime.answer import plural, say, words_of
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError, UsageError
from kcli.registry.errors import NOT_FOUND, RegistryError, Unsupported
from kcli.registry.moving.snapshot import Snapshot, in_order, own_level

if TYPE_CHECKING:
    from kcli.cli.output.tables.document import Document


class DeletedRow(Row, section="versions"):
    subject: str = column("Name of the subject.", rank=1)
    version: int = column("The version.", rank=1)
    references: list[str] = column("Ids of the schemas that refer to it; it is not deleted then.")
    result: str = column("would delete, deleted, referenced, not soft-deleted, failed.", unit="word", rank=1)
    error: str | None = column("Why it was not deleted; null when it was.", table=False, unit="sentence")


GONE = (*NOT_FOUND, 40404, 40406)
"""Codes of what is not there, or is soft-deleted."""
SHAPE = shape("registry.delete", "Versions that were deleted, or would be, one a row.", DeletedRow)


class DeleteOptions(RegistryOptions, UndoOptions):
    permanent = flag("--permanent", help="Delete for good what is soft-deleted already.")


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
    """Delete subjects, or single versions. A soft-deleted version is not listed, and its id still reads records;
    --permanent deletes it for good, after that. A version that other schemas refer to is not deleted. The plan comes
    first, --execute applies it. `kcli undo` registers them again.
    """
    words = words_of(options, "SUBJECT")

    async def make_plan(registry: Registry, document: Document) -> PlannedChange | None:
        if not (options.permanent or registry.client.deletes_softly):
            raise UsageError(f"{registry.name} has no soft deletion; add --permanent to delete for good")
        rows = document.of(DeletedRow)
        whole: list[str] = []
        for word in words:
            subject, version = subject_of(word)
            try:
                numbers, first = await _numbers(registry, options, word), await _in_use(registry, options, subject)
                found = [await _row(registry, options, subject, number, first) for number in numbers]
            except KcliError as problem:
                document.fail(await hinted(registry, problem, word), word)
                continue
            rows += found
            if version is None and all(row.result == "would delete" for row in found):
                whole.append(subject)
        for row in rows:
            if row.error is not None:
                document.fail(KcliError(row.error), row.subject)
        ready = [row for row in rows if row.result == "would delete"]
        if not ready or document.errors:
            return None

        async def carry_out() -> int | None:
            for subject in whole:
                await _settle(document, [row for row in ready if row.subject == subject], registry, options, whole=True)
            for row in ready:
                if row.subject not in whole:
                    await _settle(document, [row], registry, options, whole=False)
            say(options, f"{plural(sum(row.result == 'deleted' for row in rows), 'version')} deleted")
            return None

        names = list(dict.fromkeys(row.subject for row in ready))
        undo = None if options.plan_only or options.no_undo else await _undo(options, registry, ready)
        return PlannedChange(names=names, verb="delete", noun="subject", carry_out=carry_out, undo=undo)

    return make_change(options, SHAPE, make_plan, opened(options))


async def _numbers(registry: Registry, options: DeleteOptions, word: str) -> list[int]:
    """The versions that a word names."""
    subject, version = subject_of(word)
    if version is not None:
        return [(await registry.client.version(subject, version, deleted=options.permanent)).version]
    return await registry.client.versions(subject, deleted=options.permanent)


async def _in_use(registry: Registry, options: DeleteOptions, subject: str) -> set[int]:
    """The versions that have to be soft-deleted before they can be deleted for good."""
    if not (options.permanent and registry.client.deletes_softly):
        return set()
    try:
        return set(await registry.client.versions(subject))
    except RegistryError as problem:
        if problem.code in GONE:
            return set()
        raise


async def _row(registry: Registry, options: DeleteOptions, subject: str, version: int, in_use: set[int]) -> DeletedRow:
    if version in in_use:
        why = f"{subject} version {version}: not soft-deleted yet: delete it without --permanent first"
        return DeletedRow(subject=subject, version=version, references=[], result="not soft-deleted", error=why)
    try:
        ids = [str(number) for number in await registry.client.referenced_by(subject, version)]
    except RegistryError as problem:
        if not _unanswered(problem, soft_deleted=options.permanent and registry.client.deletes_softly):
            raise
        ids = []
        if not options.permanent:
            say(options, f"{subject} version {version}: the registry does not list the schemas that refer to it")
    error = f"{subject} version {version}: schemas {', '.join(ids)} refer to it: delete them first" if ids else None
    result = "referenced" if ids else "would delete"
    return DeletedRow(subject=subject, version=version, references=ids, result=result, error=error)


def _unanswered(problem: RegistryError, *, soft_deleted: bool) -> bool:
    """Whether the registry does not list references: of a soft-deleted version, or since it has no such request."""
    return problem.status == 404 and (soft_deleted or isinstance(problem, Unsupported))


async def _undo(options: DeleteOptions, registry: Registry, rows: list[DeletedRow]) -> Undo:
    """The schemas that are about to be deleted, and the levels that go with their subjects."""
    subjects = list(dict.fromkeys(row.subject for row in rows)) if options.permanent else []
    schemas = [await registry.client.version(row.subject, row.version, deleted=True) for row in rows]
    levels = {subject: await own_level(registry.client, subject) for subject in subjects}
    own = {subject: level for subject, level in levels.items() if level}
    register = Snapshot(schemas=tuple(in_order(schemas)))
    return undo_in(registry, "registry-delete", register=register, levels=own)


async def _settle(
    document: Document, rows: list[DeletedRow], registry: Registry, options: DeleteOptions, *, whole: bool
) -> None:
    """Delete a subject, or one version, and put what became of it into the rows."""
    subject, client = rows[0].subject, registry.client
    try:
        if whole:
            await client.delete_subject(subject, permanent=options.permanent)
        else:
            await client.delete_version(subject, rows[0].version, permanent=options.permanent)
    except KcliError as problem:
        document.fail(problem, subject)
        for row in rows:
            row.result, row.error = "failed", str(problem)
    else:
        for row in rows:
            row.result = "deleted"
