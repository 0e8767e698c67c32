"""Which schemas keys and values are read with, as the options of a read say."""

from __future__ import annotations

import os
from collections.abc import Mapping

from kcli.errors import UsageError
from kcli.pipeline.pickling import Carried
from kcli.schemas import AVRO, JSON, PROTOBUF

REGISTERED = {"avro": AVRO, "protobuf": PROTOBUF, "json-schema": JSON}
"""Formats whose schemas are in a registry, and the registry's word for them."""


FILE = "file:"


class Wanted(Carried):
    """The schema that keys or values (`field`) are read with, or `written`: the latest of a subject, `id:N` or
    `file:PATH`, which `register` registers. `rules` says whether rules of data contracts are run."""

    field: str = "value"
    form: str = "avro"
    subject: str = ""
    reader: str = "latest"
    message: str = ""
    written: bool = False
    register: bool = False
    rules: bool = True

    @property
    def option(self) -> str:
        """The option that names it."""
        return option_of(self.field, writes=self.written)

    @property
    def of_file(self) -> bool:
        return self.reader.startswith(FILE)

    @property
    def kind(self) -> str:
        return REGISTERED[self.form]


def wanted_of(given: Mapping[str, str], *, writes: bool = False) -> list[Wanted]:
    """What the options of a read, or of a write, say; their names are in lower case. Raises UsageError."""
    found = []
    register, rules = writes and _true(given, "registerSchemas"), not _true(given, "withoutRules")
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
        _check(text, reader)
        subject = given.get(f"{field}subject", "").strip() or _subject(given, field)
        if (text == "latest" or (writes and text.startswith(FILE))) and not subject:
            raise UsageError(
                f"option {field}Subject is missing: with several topics it names the subject whose latest schema "
                f"{field}s are {'written' if writes else 'read'} with; or {reader} names a schema by its id: id:N"
            )
        wanted = Wanted(field=field, form=form, subject=subject, reader=text, message=message, written=writes)
        found.append(wanted.replace(register=register and wanted.of_file, rules=rules))
    if register and not any(wanted.register for wanted in found):
        raise UsageError("option registerSchemas registers the file of writerSchema or keyWriterSchema: file:PATH")
    return found


def _true(given: Mapping[str, str], name: str) -> bool:
    """A flag, false by default. Raises UsageError."""
    text = given.get(name.lower(), "false").strip().lower()
    if text not in ("true", "false"):
        raise UsageError(f"option {name} is true or false, not {text}")
    return text == "true"


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


def absolute(place: str) -> str:
    """A `file:PATH` with its whole path, `#MESSAGE` behind it too: what reads it may work in another folder. Another
    text stays as it is."""
    path = place.removeprefix(FILE)
    return f"{FILE}{os.path.abspath(path)}" if path != place and path and not path.startswith("/") else place


def option_of(field: str, *, writes: bool) -> str:
    """The option that names a schema."""
    if field == "key":
        return "keyWriterSchema" if writes else "keyReaderSchema"
    return "writerSchema" if writes else "readerSchema"


def _check(text: str, option: str) -> None:
    number = text.removeprefix("id:")
    if text == "latest" or (text.startswith(FILE) and len(text) > len(FILE)):
        return
    if text.startswith("id:") and number.isascii() and number.isdigit():
        return
    raise UsageError(f"option {option} is latest, id:N or file:PATH, not {text}")
