"""The schemas for keys and values that the options of a read or write select."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from kcli.errors import UsageError
from kcli.pipeline.pickling import Carried
from kcli.registry.subjects import NAMED, RECORD, STRATEGIES, TOPIC, strategy_named
from kcli.schemas import AVRO, JSON, PROTOBUF

REGISTERED = {"avro": AVRO, "protobuf": PROTOBUF, "json-schema": JSON}
"""Formats with a registry's schemas, and the registry's name for them."""


FILE = "file:"
EMIT = "emit.default.values"
"""As in Spark's from_protobuf."""


class Wanted(Carried):
    """The schema with which keys or values (`field`) are read, or `written`: the latest of a subject, `id:N` or
    `file:PATH`, which `register` registers.

    Without a `subject` the `strategy` finds it for the `topic`. `bare` is the schema of all payloads, given by the
    user, and `payload` its message; it is also the reader's if `reader` is "". `rules`: whether rules of data contracts
    are run; `defaults`: whether unset Protobuf fields have their default.
    """

    field: str = "value"
    form: str = "avro"
    subject: str = ""
    strategy: str = TOPIC
    topic: str = ""
    reader: str = "latest"
    message: str = ""
    bare: str = ""
    payload: str = ""
    written: bool = False
    register: bool = False
    rules: bool = True
    defaults: bool = False

    @property
    def option(self) -> str:
        """The option that sets it."""
        return option_of(self.field, writes=self.written)

    @property
    def of_file(self) -> bool:
        return self.reader.startswith(FILE)

    @property
    def kind(self) -> str:
        return REGISTERED[self.form]


def wanted_of(given: Mapping[str, str], *, writes: bool = False) -> list[Wanted]:
    """Return the schemas in the options of a read or a write, whose names are in lower case. Raises UsageError."""
    found = []
    register, rules = writes and _true(given, "registerSchemas"), not _true(given, "withoutRules")
    defaults = _true(given, EMIT)
    if defaults and (
        writes or not any(given.get(f"{field}format", "").lower() == "protobuf" for field in ("key", "value"))
    ):
        raise UsageError(f"option {EMIT} requires valueFormat or keyFormat protobuf in a read")
    for field in ("key", "value"):
        form = given.get(f"{field}format", "").lower()
        reader = option_of(field, writes=writes)
        if form not in REGISTERED:
            for name in (f"{field}Subject", f"{field}SubjectStrategy", reader):
                if given.get(name.lower(), ""):
                    raise UsageError(f"option {name} requires {field}Format {', '.join(REGISTERED)}")
            continue
        bare, payload = bare_of(given.get(f"{field}schema", ""), field, form, writes=writes)
        text, _, message = given.get(reader.lower(), "" if bare else "latest").strip().partition("#")
        if text or not bare:
            _check(text, reader)
        wanted = Wanted(
            field=field,
            form=form,
            subject=given.get(f"{field}subject", "").strip(),
            strategy=strategy_of(given, field),
            topic=topic_of(given),
            reader=text,
            message=message if text else payload,
            bare=bare,
            payload=payload,
            written=writes,
        )
        if message and form != "protobuf" and wanted.strategy not in NAMED:
            raise UsageError(
                f"option {reader}: #{message} must name a Protobuf message, or the schema whose subject "
                f"{field}SubjectStrategy record and topic-record find"
            )
        if text == "latest" or (writes and text.startswith(FILE)):
            _check_subject(wanted)
        if wanted.strategy == TOPIC and not wanted.subject and wanted.topic:
            wanted = wanted.replace(subject=f"{wanted.topic}-{field}")
        found.append(wanted.replace(register=register and wanted.of_file, rules=rules, defaults=defaults))
    if register and not any(wanted.register for wanted in found):
        raise UsageError(
            "option registerSchemas requires writerSchema or keyWriterSchema file:PATH, the schema to register"
        )
    return found


def _true(given: Mapping[str, str], name: str) -> bool:
    """Return a flag, False by default. Raises UsageError."""
    text = given.get(name.lower(), "false").strip().lower()
    if text not in ("true", "false"):
        raise UsageError(f"option {name} must be true or false, not {text}")
    return text == "true"


def bare_of(spec: str, field: str, form: str, *, writes: bool = False) -> tuple[str, str]:
    """Return the schema of all payloads, which no frame names, and its message; ("", "") for none. Raises
    UsageError."""
    spec = spec.strip()
    text, _, message = spec.partition("#")
    subject, at, version = text.rpartition("@")
    if spec and (writes or (" " in text.removeprefix(FILE).strip() and not text.startswith(FILE))):
        reader = option_of(field, writes=writes)
        raise UsageError(f"option {field}Schema is DDL for json and msgpack; for {form}, set {reader}")
    number = text.removeprefix("id:")
    wrong = text == FILE or (text != number and not (number.isascii() and number.isdigit()))
    if at and not text.startswith(FILE):
        wrong = not subject or (version != "latest" and not (version.isascii() and version.isdigit()))
    if wrong or (spec and not text):
        raise UsageError(
            f"option {field}Schema must be id:N, file:PATH, SUBJECT[@VERSION] or topic[@VERSION], not {spec}"
        )
    return text, message


def absolute(place: str) -> str:
    """Make the path of `file:PATH` absolute, also before `#MESSAGE`, because tasks may run in another folder. Other
    texts are unchanged."""
    path = place.removeprefix(FILE)
    return f"{FILE}{os.path.abspath(path)}" if path != place and path and not path.startswith("/") else place


def option_of(field: str, *, writes: bool) -> str:
    """Return the option that sets a schema."""
    if field == "key":
        return "keyWriterSchema" if writes else "keyReaderSchema"
    return "writerSchema" if writes else "readerSchema"


def _check(text: str, option: str) -> None:
    number = text.removeprefix("id:")
    if text == "latest" or (text.startswith(FILE) and len(text) > len(FILE)):
        return
    if text.startswith("id:") and number.isascii() and number.isdigit():
        return
    raise UsageError(f"option {option} must be latest, id:N or file:PATH, not {text}")


def _check_subject(wanted: Wanted) -> None:
    """Raise UsageError if the options do not determine the subject of a schema that is found by subject."""
    if wanted.strategy in NAMED and wanted.reader == "latest" and not wanted.message:
        raise UsageError(
            f"option {wanted.field}SubjectStrategy {wanted.strategy} derives the subject from the schema's "
            f"name, so {wanted.option} must be latest#NAME"
        )
    if wanted.subject or wanted.topic or wanted.strategy == RECORD:
        return
    raise UsageError(
        f"option {wanted.field}Subject is missing: with several topics, set it to the subject whose latest schema "
        f"{wanted.field}s are {'written' if wanted.written else 'read'} with; or set {wanted.option} to a "
        "schema id: id:N"
    )


def strategy_of(given: Mapping[str, str], field: str) -> str:
    """Return the subject strategy of keys or values (`field`). Raises UsageError."""
    option = f"{field}SubjectStrategy"
    text = given.get(option.lower(), "").strip()
    strategy = strategy_named(text or TOPIC)
    if not strategy:
        raise UsageError(f"option {option} must be {', '.join(STRATEGIES[:-1])} or {STRATEGIES[-1]}, not {text}")
    if text and given.get(f"{field}subject", "").strip():
        raise UsageError(f"option {option} and {field}Subject both set the subject: use only one of them")
    return strategy


def topic_of(given: Mapping[str, str]) -> str:
    """Return the only topic that is read or written; "" for several."""
    topics = given.get("subscribe") or given.get("topic") or given.get("path") or ""
    names = [name.strip() for name in topics.split(",") if name.strip()]
    if "assign" in given:
        try:
            names = list(json.loads(given["assign"]))
        except (ValueError, TypeError):
            return ""  # refused elsewhere
    return names[0] if len(names) == 1 else ""
