"""Which schemas keys and values are read with, as the options of a read say."""

from __future__ import annotations

from collections.abc import Mapping

from kcli.errors import UsageError
from kcli.pipeline.pickling import Carried
from kcli.schemas import AVRO, JSON, PROTOBUF

REGISTERED = {"avro": AVRO, "protobuf": PROTOBUF, "json-schema": JSON}
"""Formats whose schemas are in a registry, and the registry's word for them."""


class Wanted(Carried):
    """The schema that keys or values (`field`) are read with: the latest of a subject, `id:N` or `file:PATH`."""

    field: str = "value"
    form: str = "avro"
    subject: str = ""
    reader: str = "latest"
    message: str = ""

    @property
    def kind(self) -> str:
        return REGISTERED[self.form]


def wanted_of(given: Mapping[str, str], *, writes: bool = False) -> list[Wanted]:
    """What the options of a read, or of a write, say; their names are in lower case. Raises UsageError."""
    found = []
    for field in ("key", "value"):
        form = given.get(f"{field}format", "").lower()
        reader = option_of(field, writes=writes)
        if form not in REGISTERED:
            for name in (f"{field}Subject", reader):
                if given.get(name.lower(), ""):
                    raise UsageError(f"option {name} goes with {field}Format {', '.join(REGISTERED)}")
            continue
        if given.get(f"{field}schema", "").strip():
            raise UsageError(
                f"option {field}Schema is DDL for json and msgpack; the schema of {form} is named by {reader}"
            )
        text, _, message = given.get(reader.lower(), "latest").strip().partition("#")
        _check(text, reader, files=not writes)
        subject = given.get(f"{field}subject", "").strip() or _subject(given, field)
        if text == "latest" and not subject:
            raise UsageError(
                f"option {field}Subject is missing: with several topics it names the subject whose latest schema "
                f"{field}s are {'written' if writes else 'read'} with; or {reader} names a schema by its id: id:N"
            )
        found.append(Wanted(field=field, form=form, subject=subject, reader=text, message=message))
    return found


def _subject(given: Mapping[str, str], field: str) -> str:
    """The subject of the one topic that is read, as Confluent's serializers name it; "" for several."""
    topics = given.get("subscribe") or given.get("topic") or given.get("path") or ""
    names = [name.strip() for name in topics.split(",") if name.strip()]
    if "assign" in given:
        import json

        try:
            names = list(json.loads(given["assign"]))
        except (ValueError, TypeError):
            return ""  # which is refused elsewhere
    return f"{names[0]}-{field}" if len(names) == 1 else ""


def option_of(field: str, *, writes: bool) -> str:
    """The option that names a schema."""
    if field == "key":
        return "keyWriterSchema" if writes else "keyReaderSchema"
    return "writerSchema" if writes else "readerSchema"


def _check(text: str, option: str, *, files: bool) -> None:
    number = text.removeprefix("id:")
    if text == "latest" or (files and text.startswith("file:") and len(text) > len("file:")):
        return
    if text.startswith("id:") and number.isascii() and number.isdigit():
        return
    raise UsageError(f"option {option} is latest, id:N{' or file:PATH' if files else ''}, not {text}")
