"""`kcli registry contexts`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes import schemas
from kcli.cli.commands.registry.opened import RegistryOptions, opened
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.change import apply_plan
from kcli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated

    import typer

    from kcli.changes import change as changes


class ContextRow(Row, section="contexts"):
    context: str = column("Name of the context; . is the default one.", rank=1)
    subjects: int = column("Number of its subjects, without soft-deleted ones.", rank=1)
    result: str | None = column(
        "would delete, deleted, not empty, failed or unknown.", sparse=True, unit="word", rank=1
    )
    error: str | None = column("Why it was not deleted.", table=False, unit="sentence")


SHAPE = shape("registry.contexts", "Contexts of a schema registry, one a row.", ContextRow)


class ContextsOptions(RegistryOptions, UndoOptions):
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete the contexts; a context with subjects is not deleted.")
    ] = False


@command(
    "registry contexts",
    help="List contexts; delete empty ones.",
    words="CONTEXT",
    examples="""
kcli registry contexts
kcli registry contexts .staging --delete --execute""",
)
def contexts(options: ContextsOptions) -> int:
    """Print the contexts of a registry, each with the number of its subjects. A context has its own ids:
    the subject orders-value of the context .staging is :.staging:orders-value. --delete deletes the level and the mode
    of an empty context, and the context with them."""
    wanted = list(dict.fromkeys(schemas.context_named(word) for word in options.words))
    if options.delete and not wanted:
        raise UsageError("missing argument: the contexts to delete")
    if options.delete and "." in wanted:
        raise UsageError("the default context cannot be deleted")

    return apply_plan(
        *(options, SHAPE, ContextRow),
        lambda registry: schemas.plan_contexts(registry, wanted, deleting=options.delete),
        opened=opened(options), done=_done, nothing="", refused="", verb="delete", noun="context",
    )  # fmt: skip


def _done(rows: Sequence[changes.Row]) -> str:
    return "; ".join(f"{row.name}: deleted" for row in rows if row.result == "deleted")
