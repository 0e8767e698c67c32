"""`kcli registry contexts`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.registry.opened import Registry, RegistryOptions, opened
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.parsing.option import flag
from kcli.cli.runtime.answer import missing, plural, say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError, UsageError
from kcli.registry.subjects import listed_by

if TYPE_CHECKING:
    from kcli.cli.output.tables.document import Document


class ContextRow(Row, section="contexts"):
    context: str = column("Name of the context; . is the default one.", rank=1)
    subjects: int = column("Number of its subjects, without soft-deleted ones.", rank=1)
    result: str | None = column("would delete, deleted, not empty or failed.", sparse=True, unit="word", rank=1)
    error: str | None = column("Why it was not deleted.", table=False, unit="sentence")


SHAPE = shape("registry.contexts", "Contexts of a schema registry, one a row.", ContextRow)


class ContextsOptions(RegistryOptions, ChangeOptions):
    delete = flag("--delete", help="Delete the contexts; one that has subjects is not deleted.")


@command(
    "registry contexts",
    help="List contexts; delete empty ones.",
    words="CONTEXT",
    examples="""
kcli registry contexts
kcli registry contexts .staging --delete --execute""",
)
def contexts(options: ContextsOptions) -> int:
    """Print the contexts of a registry, each with the number of its subjects. A context is a space of ids of its own:
    the subject orders-value of the context .staging is :.staging:orders-value. --delete deletes the level and the mode
    of an empty context, and the context with them."""
    wanted = list(dict.fromkeys(_plain(word) for word in options.words))
    if options.delete and not wanted:
        raise UsageError("name the contexts to delete")
    if options.delete and "." in wanted:
        raise UsageError("the default context cannot be deleted")

    async def make_plan(registry: Registry, document: Document) -> PlannedChange | None:
        known = [_plain(name) for name in await registry.client.contexts()]
        rows = document.of(ContextRow)
        for name in wanted or sorted(set(known)):
            if name not in known:
                missing(document, name, KcliError(f"{name}: the registry has no such context"), known)
                continue
            rows.append(await _row(registry, name, deleting=options.delete))
        for row in rows:
            if row.error:
                document.fail(KcliError(row.error), row.context)
        ready = [row for row in rows if row.result == "would delete"]
        if not ready or document.errors:
            return None
        return PlannedChange(
            names=[row.context for row in ready],
            verb="delete",
            noun="context",
            carry_out=lambda: _delete(registry, document, options, ready),
        )

    return make_change(options, SHAPE, make_plan, opened(options))


def _plain(name: str) -> str:
    """As Confluent's registry names a context: Apicurio's says `:.staging:`."""
    return f".{name.strip(':.')}"


async def _row(registry: Registry, name: str, *, deleting: bool) -> ContextRow:
    count = len(await registry.client.subjects(listed_by(name)))
    error = f"{name}: the context has {plural(count, 'subject')}: delete them first" if deleting and count else None
    result = None if not deleting else "not empty" if count else "would delete"
    return ContextRow(context=name, subjects=count, result=result, error=error)


async def _delete(registry: Registry, document: Document, options: ContextsOptions, rows: list[ContextRow]) -> None:
    for row in rows:
        try:
            await registry.client.delete_context(row.context)
            row.result = "deleted"
            say(options, f"{row.context}: deleted")
        except KcliError as problem:
            row.result, row.error = "failed", str(problem)
            document.fail(problem, row.context)
