"""A schema that is compared with what a subject has: how a line says it, and why it does not go with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kcli.cli.commands.registry.opened import RegistryOptions, kind_named, schema_of, subject_of
from kcli.cli.output.tables.rows import Row, column
from kcli.errors import UsageError
from kcli.schemas import Reference
from kcli.serde.avro.compatibility import BACKWARD, FORWARD

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated

    import typer

    from kcli.schemas import Schema


class ReasonRow(Row, section="reasons"):
    subject: str = column("The subject, or the file, that it was compared with.", rank=1)
    version: int | None = column("Its version; null if the registry does not report it.", rank=1)
    direction: str | None = column("backward: the new schema reads the old one's; forward: the other way.", unit="word")
    type: str | None = column("Avro's name for the reason.", unit="word")
    location: str | None = column("Location in the reader's schema.")
    why: str = column("What is incompatible.", unit="sentence", rank=1)


class SchemaFileOptions(RegistryOptions):
    """The schema of a file."""

    type: Annotated[
        str | None,
        typer.Option(
            "--type", metavar="TYPE", help="AVRO, PROTOBUF or JSON. Default: by the file: .proto, .json, else AVRO."
        ),
    ] = None
    references: Annotated[
        list[str],
        typer.Option("--reference", metavar="NAME=SUBJECT@VERSION", help="What the schema imports. Repeatable."),
    ]

    def schema(self, path: str) -> Schema:
        """Raises UsageError."""
        return schema_of(path, kind_named(self.type)).replace(references=_references(self.references))


REASON = re.compile(r"errorType:\s*'([A-Z0-9_]+)',\s*description:\s*'(.*)',\s*additionalInfo:\s*'(.*)'", re.DOTALL)
OLD_VERSION = re.compile(r"\{?oldSchemaVersion: (\d+)\}?")
AROUND = re.compile(r"\{?(validateFields|compatibility): ")
PLACE = re.compile(r"\bpath '([^']*)'")
READER = re.compile(r"\b(new|old) schema\b")


def rows_of(subject: str, reasons: Sequence[str]) -> list[ReasonRow]:
    """A registry's reasons as rows. Confluent's have a type, a place and a direction in their text, and after them the
    version that they are about; the reasons of others are a row each as they are."""
    rows, version = [], None
    for reason in reasons:
        if found := OLD_VERSION.fullmatch(reason):
            version = int(found[1])
        elif not AROUND.match(reason):
            rows.append(_row(subject, reason))
    for row in rows:
        row.version = version
    return rows


def _row(subject: str, reason: str) -> ReasonRow:
    type = direction = location = None
    why = reason
    if found := REASON.fullmatch(reason):
        type, why, more = found.groups()
        place, reader = PLACE.search(why), READER.search(why)  # the reader's schema is named first
        location = place[1] if place else None
        direction = {"new": BACKWARD, "old": FORWARD}[reader[1]] if reader else None
        if more and more not in why:
            why = f"{why} ({more})"
    return ReasonRow(subject=subject, version=None, direction=direction, type=type, location=location, why=why)


def _references(words: list[str]) -> tuple[Reference, ...]:
    """What --reference says. Raises UsageError."""
    found = []
    for word in words:
        name, equals, place = word.partition("=")
        subject, version = subject_of(place)
        if not equals or not name or not subject or version is None:
            raise UsageError(f"--reference {word}: expected NAME=SUBJECT@VERSION")
        found.append(Reference(name, subject, version))
    return tuple(found)
