"""Resolves what a schema imports, and what that imports in turn."""

from __future__ import annotations

from kcli.registry.subjects import within
from kcli.schemas import SchemaRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.schemas import Schema

    Ask = Callable[[str, int], Awaitable[Schema]]

DEEPEST = 64
MOST = 1000


async def resolve(schema: Schema, ask: Ask) -> list[tuple[str, Schema]]:
    """Return all schemas that a schema needs, by the names in the importing texts.

    Each name appears once, the first one found counts, and a schema precedes the schemas that need it (like in
    Confluent's clients). `ask` returns a version of a subject. A subject without a context belongs to the context of
    the schema that names it. Raises SchemaRefused.
    """
    resolved: dict[str, Schema] = {}
    under_way = 0

    async def visit(importing: Schema, chain: tuple[str, ...]) -> None:
        nonlocal under_way
        for reference in importing.references:
            if reference.name in resolved:
                continue
            subject = within(importing.context, reference.subject)
            place = f"{subject} version {reference.version}"
            if place in chain:
                raise SchemaRefused(f"{schema.name}: circular references: {_shown((*chain, place))}")
            if len(chain) > DEEPEST:
                raise SchemaRefused(
                    f"{schema.name}: its references are deeper than {DEEPEST}: {_shown((*chain, place))}"
                )
            if len(resolved) + under_way >= MOST:
                raise SchemaRefused(f"{schema.name}: it needs more than {MOST:,} schemas, the last of {place}")
            under_way += 1
            needed = await ask(subject, reference.version)
            await visit(needed, (*chain, place))
            under_way -= 1
            resolved.setdefault(reference.name, needed)

    await visit(schema, (schema.name,))
    return list(resolved.items())


def _shown(chain: tuple[str, ...]) -> str:
    """Return a chain in one line, shortened in the middle."""
    from kcli.text.escape import visible

    shown = chain if len(chain) <= 8 else (*chain[:4], "…", *chain[-4:])
    return visible(" → ".join(shown))
