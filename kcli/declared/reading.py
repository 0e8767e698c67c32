"""Converts checked documents to Declared. Two files that declare the same thing are an error, even if they agree."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from kcli.acls import Acl
from kcli.admin.configs import resource
from kcli.admin.quotas import DEFAULT, KEYS, entity, value_of
from kcli.config.secrets.sources import KINDS as SOURCES
from kcli.config.secrets.sources import Source, from_table
from kcli.declared.entries import acls_of
from kcli.declared.model import Declared, Login, Setting, Settings, Subject, Topic
from kcli.declared.schema import SCHEMA
from kcli.declared.schema import Schema as Shape
from kcli.errors import UsageError
from kcli.registry.folder import ENDS
from kcli.schemas import AVRO, Reference, Schema
from kcli.secret import secretive
from kcli.serde.avro.compatibility import LEVELS
from kcli.system import files
from kcli.text.suggest import did_you_mean

Map = dict[str, Any]
SAID = {"object": "keys and values below it", "array": "a list", "integer": "a whole number", "number": "a number"}


def declared(documents: list[tuple[str, Any]]) -> Declared:
    """Combine all files, each with its path. Raises UsageError with file and line."""
    declared = Declared()
    for path, document in documents:
        if document is not None:  # an empty file
            _File(path, declared).read(document)
    _contradictions(declared)
    return declared


def _contradictions(declared: Declared) -> None:
    """Raise UsageError for anything declared both present and absent."""
    for what, places, there in (
        *((name, place, declared.topics.get(name)) for name, place in declared.absent_topics.items()),
        *((at[0], place, declared.users.get(at)) for at, place in declared.absent_users.items()),
        *((name, place, declared.schemas.get(name)) for name, place in declared.absent_schemas.items()),
    ):
        if there is not None:
            raise UsageError(f"{places}: {what} is declared both absent and present, at {there.place}")
    for acl, place in declared.absent_acls.items():
        if acl in declared.acls:
            raise UsageError(f"{place}: an ACL is declared both absent and present, at {declared.acls[acl]}")


class _File:
    def __init__(self, path: str, into: Declared) -> None:
        self._path = path
        self._into = into

    def read(self, document: Any) -> None:
        for of in dotted(document):
            flatten(of)
        Checker(self._path, SCHEMA).check(document)
        for section, patterns in document.get("scope", {}).items():
            self._into.scope.setdefault(section, []).extend(map(str, patterns))
        self._topics(document.get("topics", {}), document.get("defaults", {}))
        for kind, names in document.get("configs", {}).items():
            for name, of in names.items():
                at = self._guarded(names, name, resource, kind, "" if (kind, name) == ("broker", "default") else name)
                self._once(self._into.configs, at, names, name)
                self._into.configs[at] = self._settings(of, of, self._place(names, name))
        self._users(document.get("users", {}))
        for of in document.get("quotas", ()):
            self._quota(of)
        for of in document.get("acls", ()):
            for acl in self._acls(of):
                self._into.acls.setdefault(acl, self._place(of))
        for name, of in document.get("schemas", {}).items():
            self._once(self._into.schemas, name, document["schemas"], name)
            self._into.schemas[name] = self._subject(name, of, self._place(document["schemas"], name))
        self._absent(document.get("absent", {}))

    # -- places and errors -------------------------------------------------------------------------------------------

    def _place(self, of: Map, key: str | None = None) -> str:
        lines: dict[str, int] = getattr(of, "lines", {})
        return f"{self._path}:{lines.get(key, 1) if key is not None else min(lines.values(), default=1)}"

    def _once(self, known: Any, key: Any, of: Map, name: str, said: str | None = None) -> None:
        if key in known:
            before = known[key].place
            raise UsageError(f"{self._place(of, name)}: {said or name} is declared already, at {before}")

    def _guarded(self, of: Map, key: str | None, make: Any, *words: Any) -> Any:
        """Return the result of `make`; add the line to its UsageError."""
        try:
            return make(*words)
        except UsageError as problem:
            raise UsageError(f"{self._place(of, key)}: {problem}") from None

    # -- sections ----------------------------------------------------------------------------------------------------

    def _topics(self, topics: Map, defaults: Map) -> None:
        usual = self._settings(defaults.get("configs", {}), {}, "")
        for name, of in topics.items():
            self._once(self._into.topics, name, topics, name)
            place = self._place(topics, name)
            settings = self._settings(of.get("configs", {}), of, place)
            settings.values = {
                **{key: value for key, value in usual.values.items() if key not in settings.inherit},
                **settings.values,
            }
            self._into.topics[name] = Topic(
                partitions=_number(of.get("partitions", defaults.get("partitions"))),
                replication=_number(of.get("replication", defaults.get("replication"))),
                settings=settings,
                place=place,
            )

    def _settings(self, values: Map, around: Map, place: str) -> Settings:
        settings = Settings(place=place)
        for name in around.get("inherit", ()):
            settings.inherit[str(name)] = self._place(around, "inherit")
        for name, value in values.items():
            if name == "inherit" and values is around:
                continue
            at = self._place(values, name)
            if name in settings.inherit:
                raise UsageError(f"{at}: {name} is both set and listed to inherit")
            settings.values[name] = Setting(value=self._value(values, name, value), place=at)
        return settings

    def _value(self, of: Map, name: str, value: Any) -> str | Source:
        if isinstance(value, dict):
            return self._source(of, name, value)
        text = ",".join(map(_text, value)) if isinstance(value, list) else _text(value)
        if secretive(name) and text:
            raise UsageError(
                f"{self._place(of, name)}: {name}: a secret is not allowed in this file; refer to it: {{env: NAME}}, "
                "{file: PATH}, {command: …}"
            )
        made: str = self._guarded(of, name, plain, name, text)
        return made

    def _source(self, of: Map, name: str, table: Map) -> Source:
        place = self._place(of, name)
        if "timeout" in table:
            table = {**table, "timeout": float(table["timeout"])}
        return from_table(table, f"{place}: {name}", os.path.dirname(self._path) or ".")

    def _users(self, users: Map) -> None:
        for name, mechanisms in users.items():
            if not mechanisms:
                raise UsageError(f"{self._place(users, name)}: {name}: add a mechanism, such as SCRAM-SHA-512")
            for mechanism, of in mechanisms.items():
                self._once(self._into.users, (name, mechanism), users, name)
                password = self._source(of, "password", of["password"]) if "password" in of else None
                self._into.users[name, mechanism] = Login(
                    iterations=_number(of.get("iterations")),
                    password=password,
                    place=self._place(mechanisms, mechanism),
                )

    def _quota(self, of: Map) -> None:
        names = {
            kind: None if of[kind] == DEFAULT else str(of[kind]) for kind in ("user", "client-id", "ip") if kind in of
        }
        at = self._guarded(of, None, entity, names)
        self._once(self._into.quotas, at, of, next(iter(names)), f"a quota of {at}")
        settings = Settings(place=self._place(of))
        for name in of.get("inherit", ()):
            self._guarded(of, "inherit", value_of, str(name), "0")
            settings.inherit[str(name)] = self._place(of, "inherit")
        for key in (one for one in KEYS if one in of):
            value = self._guarded(of, key, value_of, key, _text(of[key]))
            settings.values[key] = Setting(value=repr(value), place=self._place(of, key))
        self._into.quotas[at] = settings

    def _acls(self, of: Map) -> list[Acl]:
        acls: list[Acl] = self._guarded(of, None, acls_of, of)
        return acls

    def _subject(self, name: str, of: Map, place: str) -> Subject:
        """Raises UsageError if a file cannot be read."""
        if "file" in of and "schema" in of:
            raise UsageError(f"{self._place(of, 'schema')}: {name} has both file and schema")
        kind, text = AVRO, str(of.get("schema", ""))
        if "file" in of:
            path = os.path.join(os.path.dirname(self._path), str(of["file"]))
            kind = next((kind for end, kind in ENDS.items() if path.endswith(end)), AVRO)
            try:
                text = files.read_text(path, files.TEXT).strip()
            except (OSError, UnicodeDecodeError) as problem:
                reason = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8"
                raise UsageError(f"{self._place(of, 'file')}: {path}: {reason}") from None
        if not text and ("file" in of or "compatibility" not in of):
            raise UsageError(f"{place}: {name}: add file, schema or compatibility")
        references = tuple(
            Reference(str(one["name"]), str(one["subject"]), int(one.get("version", -1)))
            for one in of.get("references", ())
        )
        level = str(of["compatibility"]).upper().replace("-", "_") if "compatibility" in of else None
        if level is not None and level not in LEVELS:
            raise UsageError(f"{self._place(of, 'compatibility')}: {level} is not one of {', '.join(LEVELS)}")
        schema = Schema(kind=str(of.get("type", kind)), text=text, references=references, subject=name)
        return Subject(schema=schema, level=level, place=place)

    def _absent(self, absent: Map) -> None:
        for name in map(str, absent.get("schemas", ())):
            self._into.absent_schemas[name] = self._place(absent, "schemas")
        for name in map(str, absent.get("topics", ())):
            self._into.absent_topics[name] = self._place(absent, "topics")
        for name, mechanisms in absent.get("users", {}).items():
            for mechanism in mechanisms:
                self._into.absent_users[name, mechanism] = self._place(absent["users"], name)
        for of in absent.get("acls", ()):
            self._into.absent_acls.update((acl, self._place(of)) for acl in self._acls(of))


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def dotted(document: Any) -> Iterator[Map]:
    """Yield the maps whose keys have dots: TOML turns such keys without quotation marks into tables."""
    if not isinstance(document, dict):
        return
    topics, configs, defaults = (document.get(key) for key in ("topics", "configs", "defaults"))
    holders = [*(topics.values() if isinstance(topics, dict) else ()), defaults]
    yield from (
        holder["configs"] for holder in holders if isinstance(holder, dict) and isinstance(holder.get("configs"), dict)
    )
    for names in configs.values() if isinstance(configs, dict) else ():
        yield from (one for one in (names.values() if isinstance(names, dict) else ()) if isinstance(one, dict))


def flatten(of: Map) -> None:
    """Flatten `{retention: {ms: 1}}` to `{retention.ms: 1}`, except tables that name a secret's source."""
    lines: dict[str, int] = getattr(of, "lines", {})
    again = True
    while again:
        again = False
        for key, value in list(of.items()):
            if isinstance(value, dict) and value and value.keys().isdisjoint(SOURCES):
                del of[key]
                for inner, one in value.items():
                    of[f"{key}.{inner}"] = one
                    lines[f"{key}.{inner}"] = getattr(value, "lines", {}).get(inner, lines.get(key, 1))
                again = True


class Checker:
    """Checks one file."""

    def __init__(self, path: str, schema: Shape) -> None:
        self._path = path
        self._whole = schema

    def check(self, document: Any) -> None:
        """Raises UsageError."""
        if not isinstance(document, dict):
            raise UsageError(
                f"{self._path}:1: a declared cluster must be a map with {', '.join(self._whole['properties'])}"
            )
        self._value(document, self._whole, 1, "")

    def _wrong(self, line: int, where: str, why: str) -> UsageError:
        return UsageError(f"{self._path}:{line}: {where}{': ' if where else ''}{why}")

    def _value(self, value: Any, schema: Shape, line: int, where: str) -> None:
        schema = self._meant(value, schema)
        if value is None:
            raise self._wrong(line, where, "there is no value")
        if "const" in schema:
            if value != schema["const"]:
                raise self._wrong(line, where, f"this kcli reads {schema['const']}, not {value}")
            return
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if isinstance(value, dict):
            if "object" not in types:
                raise self._wrong(line, where, f"expected {self._expected(schema)}, not keys and values")
            self._object(value, schema, line, where)
        elif isinstance(value, list):
            if "array" not in types:
                raise self._wrong(line, where, f"expected {self._expected(schema)}, not a list")
            for number, one in enumerate(value, 1):
                lines = list(getattr(one, "lines", {}).values())
                at = f"{where} {number}" if isinstance(one, dict) else where
                self._value(one, schema["items"], min(lines, default=line), at)
        else:
            self._scalar(value, schema, types, line, where)

    def _meant(self, value: Any, schema: Shape) -> Shape:
        """Resolve references and alternatives of a schema: return the alternative for the value's type."""
        if "$ref" in schema:
            return self._meant(value, self._whole["$defs"][schema["$ref"].rpartition("/")[2]])
        if "anyOf" not in schema:
            return schema
        kind = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else ""
        choices: list[Shape] = [self._meant(value, one) for one in schema["anyOf"]]
        return next((choice for choice in choices if kind and choice["type"] == kind), choices[0])

    def _expected(self, schema: Shape) -> str:
        kind = schema["type"]
        return SAID.get(kind, "one value") if isinstance(kind, str) else "one value"

    def _object(self, value: dict[str, Any], schema: Shape, line: int, where: str) -> None:
        lines = getattr(value, "lines", {})
        known = schema.get("properties", {})
        for key, one in value.items():
            at, name = lines.get(key, line), f"{where}: {key}" if where else key
            rest = schema["additionalProperties"]
            if key in known:
                self._value(one, known[key], at, name)
            elif rest is False:
                near = did_you_mean(key, known) or f"; known: {', '.join(known)}"
                raise self._wrong(at, where, f"unknown key {key}{near}")
            elif not key:
                raise self._wrong(at, where, "a name is empty")
            else:
                self._value(one, rest, at, name)
        for key in schema.get("required", ()):
            if key not in value:
                raise self._wrong(line, where, f"{key} is missing")

    def _scalar(self, value: Any, schema: Shape, types: list[str], line: int, where: str) -> None:
        text = str(value)
        if not isinstance(value, str | int | float):  # a date of TOML
            raise self._wrong(line, where, f"{text}: write it in quotation marks")
        if "object" in types or "array" in types:
            raise self._wrong(line, where, f"expected {self._expected(schema)}, not {text}")
        if "enum" in schema and text not in schema["enum"]:
            near = did_you_mean(text, schema["enum"]) or f"; known: {', '.join(schema['enum'])}"
            raise self._wrong(line, where, f"unknown value {text}{near}")
        if types == ["integer"] or types == ["number"]:
            try:
                number = int(text) if types == ["integer"] else float(text)
            except ValueError:
                raise self._wrong(line, where, f"expected {self._expected(schema)}, not {text}") from None
            for bound, fits in (
                ("minimum", number >= schema.get("minimum", number)),
                ("maximum", number <= schema.get("maximum", number)),
            ):
                if not fits:
                    raise self._wrong(line, where, f"{text} is not the {bound} {schema[bound]} or {_beyond(bound)}")
        elif types == ["boolean"] and text.lower() not in ("true", "false"):
            raise self._wrong(line, where, f"expected true or false, not {text}")
        elif types == ["string"] and schema.get("minLength") and not text:
            raise self._wrong(line, where, "it is empty")


def _beyond(bound: str) -> str:
    return "more" if bound == "minimum" else "less"


# Values with units: `7d` where Kafka expects milliseconds, `1GiB` where it expects bytes, as the name of a config
# tells.
#
# Also compares values: booleans, numbers, and lists whose order has no meaning.


TIMES = {"ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
WITH_UNIT = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)(/s)?")
UNORDERED = """
cleanup.policy metrics match leader.replication.throttled.replicas follower.replication.throttled.replicas
""".split()


def plain(name: str, text: str) -> str:
    """Return the value in Kafka's form. Raises UsageError for an unknown unit."""
    match = WITH_UNIT.fullmatch(text.strip())
    if match is None:
        return text
    if re.search(r"(^|[._])ms$", name):
        factor = TIMES.get(match.group(2).lower())
        if factor is None or match.group(3):
            raise UsageError(f"{name}: {text!r} is not a duration; write 604800000, 7d, 12h, 30m, 45s or 500ms")
        return _whole(float(match.group(1)) * factor, name, text)
    if re.search(r"bytes($|[._])", name) or name.endswith("buffer.size"):
        from kcli.grammar.units import bytes_of

        return _whole(bytes_of(text, name), name, text)
    return text


def _whole(value: float, name: str, text: str) -> str:
    if value != int(value):
        raise UsageError(f"{name}: {text!r} must be a whole number of {'ms' if name.endswith('ms') else 'bytes'}")
    return str(int(value))


def same(name: str, kind: str, one: str | None, other: str | None) -> bool:
    """Whether two texts are the same value. `kind` is the broker's name of the type; "" from brokers that do not report
    it."""
    if one is None or other is None or one == other:
        return one == other
    if kind == "boolean":
        return one.strip().lower() == other.strip().lower()
    if kind in ("int", "short", "long", "double", ""):
        try:
            return float(one) == float(other) if kind in ("double", "") else int(one) == int(other)
        except ValueError:
            if kind:
                return False
    if kind in ("list", ""):
        mine, theirs = ([part.strip() for part in text.split(",") if part.strip()] for text in (one, other))
        return sorted(mine) == sorted(theirs) if name in UNORDERED else mine == theirs
    return one.strip() == other.strip()
