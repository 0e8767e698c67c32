"""The latest version of many subjects, and their levels and modes, in as few requests as the registry allows."""

from __future__ import annotations

from kcli.registry.errors import NotFound, Unsupported
from kcli.registry.moving.snapshot import each

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.registry.client import RegistryClient
    from kcli.schemas import Schema


async def latest_of(
    client: RegistryClient, wanted: Sequence[str], *, context: str = "", deleted: bool = False
) -> dict[str, Schema]:
    """Return the latest version by subject: in one request if supported, else with a request each. A subject that was
    deleted since it was listed is omitted. Raises KcliError."""
    by_subject: dict[str, Schema] = {}
    if len(wanted) > 1:
        try:
            schemas = await client.schemas(context, latest_only=True, deleted=deleted)
            by_subject = {schema.subject: schema for schema in schemas}
        except Unsupported:
            pass  # Apicurio does not list schemas

    async def ask(subject: str) -> Schema | None:
        try:
            return await client.version(subject, deleted=deleted)
        except NotFound:
            return None

    missing = [subject for subject in wanted if subject not in by_subject]
    for subject, schema in zip(missing, await each(ask, missing), strict=True):
        if schema is not None:
            by_subject[subject] = schema
    return by_subject


async def levels_of(client: RegistryClient, wanted: Sequence[str]) -> dict[str, tuple[str, str | None]]:
    """Return (compatibility level, mode) by subject, with two requests each; the mode is None if the registry has no
    modes. Raises KcliError."""

    async def ask(subject: str) -> tuple[str, str | None]:
        level = await client.level(subject)
        try:
            return level, await client.mode(subject)
        except Unsupported:
            return level, None

    return dict(zip(wanted, await each(ask, wanted), strict=True))
