"""A schema that is compared with what a subject has: how a line says it, and why it does not go with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.registry.opened import Registry, subject_of
from kcli.cli.output.tables.rows import Row, column
from kcli.cli.parsing.option import text, texts
from kcli.errors import UsageError
from kcli.registry.errors import NotFound
from kcli.schemas import Reference

if TYPE_CHECKING:
    from kcli.schemas import Schema


class ReasonRow(Row, section="reasons"):
    subject: str = column("The subject, or the file, that it was compared with.", rank=1)
    version: int | None = column("Its version; null where the registry does not say.", rank=1)
    direction: str | None = column("backward: the new schema reads the old one's; forward: the other way.", unit="word")
    type: str | None = column("Avro's name for the reason.", unit="word")
    location: str | None = column("Where in the reader's schema.")
    why: str = column("What is incompatible.", unit="sentence", rank=1)


def type_option() -> str | None:
    return text(
        "--type", metavar="TYPE", help="AVRO, PROTOBUF or JSON. Default: by the file: .proto, .json, else AVRO."
    )


def reference_option() -> list[str]:
    return texts("--reference", metavar="NAME=SUBJECT@VERSION", help="What the schema imports. Repeatable.")


def plain(subject: str, reason: str) -> ReasonRow:
    return ReasonRow(subject=subject, version=None, direction=None, type=None, location=None, why=reason)


async def verdict_of(
    registry: Registry, subject: str, schema: Schema, *, every: bool, normalize: bool = False
) -> list[str]:
    """Why the registry finds a schema incompatible with the subject; empty where it goes with it, and for a subject
    that is new."""
    try:
        verdict = await registry.client.compatible(subject, schema, every=every, normalize=normalize)
    except NotFound as problem:
        if problem.code in (40401, 40402):
            return []
        raise
    if verdict.compatible:
        return []
    return list(verdict.reasons) or ["the registry gives no reason"]


def references_of(words: list[str]) -> tuple[Reference, ...]:
    """What --reference says. Raises UsageError."""
    found = []
    for word in words:
        name, equals, place = word.partition("=")
        subject, version = subject_of(place)
        if not equals or not name or not subject or version is None:
            raise UsageError(f"--reference {word}: expected NAME=SUBJECT@VERSION")
        found.append(Reference(name, subject, version))
    return tuple(found)
