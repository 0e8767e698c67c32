"""`produce --input json --value-schema from-record`: lines of `consume -J`, stored by the schemas that they name."""

from __future__ import annotations

import json
from uuid import UUID

from kcli.cli.output.records.envelope import bytes_of
from kcli.errors import KcliError, UsageError
from kcli.registry.subjects import split
from kcli.schemas import SchemaNotFound, SchemaRefused
from kcli.serde.contracts.writable import conditions_of
from kcli.serde.schemas.decoder import schema_named
from kcli.serde.schemas.frames import of_headers
from kcli.serde.schemas.labels import Label
from kcli.serde.schemas.writers import HEADERS, RecordWriter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.cli.output.records.envelope import Headers
    from kcli.schemas import Schemas

KINDS = ("key", "value")
GLOBAL_FRAME = 9
"""Bytes of Apicurio's frame: a 0 and a global id."""


class FromRecord:
    """Writes the keys and values of lines by the schemas that the lines name."""

    def __init__(self, schemas: Schemas, *, without_rules: bool = False, specified: bool = False) -> None:
        self._without_rules, self._specified = without_rules, specified
        self._schemas = schemas
        self._writers: dict[str, RecordWriter | str] = {}  # or the reason that it has none

    async def learn(self, lines: Iterable[bytes]) -> None:
        """Look up the schemas that these lines name. A schema that is not there or not used is an error of its lines.
        Raises KcliError where the registry does not answer."""
        for line in lines:
            if b'_schema"' not in line:
                continue
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                continue  # the reader of the line raises
            for kind in KINDS:
                named = found.get(f"{kind}_schema") if isinstance(found, dict) else None
                if isinstance(named, dict):
                    name = _name(kind, named, _headers(found))
                    if (word := _word(named, name)) not in self._writers:
                        self._writers[word] = await self._writer(named, name)

    async def _writer(self, named: dict[str, object], name: bytes) -> RecordWriter | str:
        """`name` is that of a frame or header that is no id of the registry, b"" for none."""
        id, guid, message = named.get("id"), named.get("guid"), named.get("message", "")
        subject, version = named.get("subject"), named.get("version")
        try:
            frame = bytes_of(named["frame"], "frame") if "frame" in named else None
            if type(id) is int and 0 <= id < 1 << 32:
                schema = await self._schemas.by_id(id, context=split(subject)[0] if isinstance(subject, str) else "")
            elif isinstance(guid, str):
                schema = await self._schemas.by_guid(str(UUID(guid)))
            elif isinstance(subject, str) and type(version) is int and version > 0:
                schema = await self._schemas.version(subject, version)
            elif name:
                schema = await schema_named(self._schemas, name)
            else:
                return 'has neither an "id" nor a "guid" of a schema, nor a "subject" with a "version"'
            conditions = conditions_of(schema, without=self._without_rules)
            needed = await self._schemas.references(schema) if schema.references else []
            referred = tuple((name, one.text) for name, one in needed)
            label = Label(schema=schema, referred=referred, message=str(message), frame=frame)
            return RecordWriter(label, conditions=conditions, specified=self._specified)
        except ValueError:
            return 'has an invalid "frame" or "guid"'
        except KcliError as problem:
            if not isinstance(problem, SchemaNotFound | SchemaRefused | UsageError):
                raise
            return str(problem)

    def stored(self, kind: str, value: object, named: object, headers: Headers) -> bytes:
        """What is stored for the JSON of a key or value. Raises ValueError."""
        if not isinstance(named, dict):
            raise ValueError(f'"{kind}_schema" is not an object')
        writer = self._writers[_word(named, _name(kind, named, headers))]
        if isinstance(writer, str):
            raise ValueError(f'"{kind}_schema": {writer}')
        header = next((held for name, held in reversed(headers) if name == HEADERS[kind]), None)
        try:
            return writer.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")), header)
        except ValueError as problem:
            raise ValueError(f'"{kind}": {problem}') from None


def _word(named: dict[str, object], name: bytes) -> str:
    fields = ("id", "guid", "subject", "version", "message", "frame")
    return json.dumps([*map(named.get, fields), name.hex()])


def _name(kind: str, named: dict[str, object], headers: Headers) -> bytes:
    """What Apicurio's frame of eight bytes or the headers of other serializers name, where a line has neither an
    id nor a subject; b"" for nothing."""
    if any(named.get(field) is not None for field in ("id", "guid", "subject")):
        return b""
    try:
        frame = bytes_of(named.get("frame"), "frame")
    except ValueError:
        return b""  # that of the writer says so
    return frame if frame is not None and len(frame) == GLOBAL_FRAME and frame[0] == 0 else of_headers(headers, kind)


def _headers(line: dict[str, object]) -> list[tuple[str, bytes | None]]:
    """Those of an envelope, none of one that is malformed: its reader raises."""
    held = line.get("headers")
    try:
        return [(str(name), bytes_of(value, "headers")) for name, value in held] if isinstance(held, list) else []
    except (TypeError, ValueError):
        return []
