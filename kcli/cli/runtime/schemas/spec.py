"""Which schema a line names: --value-schema and --key-schema."""

from __future__ import annotations

import os
import re

from kcli.errors import KcliError, UsageError
from kcli.registry.subjects import NAMED, TOPIC, strategy_named
from kcli.schemas import AVRO, JSON, PROTOBUF, Schema, SchemaRefused
from kcli.serde.schema_name import schema_name
from kcli.system import files
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.registry.settings import RegistrySettings
    from kcli.schemas import Schemas
    from kcli.serde.schemas.readers import References

MOST_IMPORTS = 200
COMPILED = (".binpb", ".bin", ".desc", ".fds", ".pb", ".protoset")
"""How the names of files end that `protoc --descriptor_set_out` and `buf build` write."""
SUFFIXES = {".proto": PROTOBUF, ".json": JSON, **dict.fromkeys(COMPILED, PROTOBUF)}
"""What a file is by the end of its name; Avro with any other."""


class SchemaSpec:
    """Which schema a user names: `file:PATH`, `id:N`, `SUBJECT[@VERSION]`, or `topic[@VERSION]`, the subject of the
    topic; `#MESSAGE` at the end names a message of Protobuf. Raises UsageError."""

    def __init__(self, spec: str, subject: Subject, *, registered: bool) -> None:
        """`subject` says how that of the topic is found; `registered` whether a registry is named."""
        self._flag, self._place = f"--{subject.kind}-schema", subject
        spec, self.message = _parted(spec)
        self._file = spec.removeprefix("file:") if spec.startswith("file:") else None
        self._id = spec.removeprefix("id:") if spec.startswith("id:") else None
        self._subject, _, version = spec.rpartition("@") if "@" in spec else (spec, "", "latest")
        if self._file is None and not registered:
            raise UsageError(f"{self._flag} {spec}: no registry is set; add --schema-registry URL, or use file:PATH")
        if self._file == "" or not self._subject or (self._id is not None and not self._id.isdecimal()):
            raise UsageError(f"{self._flag} {spec!r}: write file:PATH, id:N, SUBJECT[@VERSION] or topic[@VERSION]")
        if version != "latest" and not version.isdecimal() and self._file is None:
            raise UsageError(f"{self._flag} {spec}: {version} is not a version: write a number or latest")
        self._version = version
        self._text: str | None = None
        self._referred: References = []
        if self._file is not None:
            self._text, self._referred = self._read(self._file)

    def _read(self, path: str) -> tuple[str, References]:
        """The schema of a file, and those that it refers to."""
        suffix = os.path.splitext(path)[1]
        try:
            if suffix in COMPILED:
                from kcli.serde.protobuf.schema.image import files_of

                return files_of(files.read(path, files.TEXT))
            text = files.read_text(path, files.TEXT)
            return text, imported(path, text) if SUFFIXES.get(suffix) == PROTOBUF else []
        except (OSError, UnicodeDecodeError, SchemaRefused) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else str(problem)
            reason = "it is not UTF-8" if isinstance(problem, UnicodeDecodeError) else reason
            raise UsageError(f"{self._flag} {path}: {reason}") from None

    @property
    def of_file(self) -> bool:
        return self._text is not None

    @property
    def said(self) -> str:
        """The subject that --value-subject names, "" without one."""
        return self._place.name

    @property
    def of_topic(self) -> bool:
        """Whether the subject is that of the topic, not one that the user names."""
        return self._text is not None or (self._subject == "topic" and self._id is None)

    async def subject(
        self, topic: str, schemas: Schemas, schema: Schema | None = None, referred: References | None = None
    ) -> str:
        """The subject that is named, or that of the topic, which may be made of the name of the `schema`, or of the
        name behind #. Raises UsageError where that is not known, and what the registry raises."""
        record = ""
        if not self.of_topic:
            return self._subject
        if self._place.of_schema:
            record = self.message if schema is None else schema_name(schema, referred or [], self.message)
            if not record and schema is None:
                raise UsageError(
                    f"{self._flag} topic: the strategy {self._place.strategy} derives the subject from the schema's "
                    f"name: write topic#NAME, or file:PATH"
                )
        return await self._place.of(topic, schemas, record)

    async def schema(self, topic: str, client: Client) -> tuple[Schema, References]:
        """The schema for a topic, and those that it refers to. Raises KcliError."""
        if self._text is not None:
            kind = SUFFIXES.get(os.path.splitext(str(self._file))[1], AVRO)
            return Schema(kind=kind, text=self._text, subject=str(self._file)), self._referred
        if self._id is not None:
            found = await client.schemas.by_id(int(self._id))
        else:
            subject = await self.subject(topic, client.schemas)
            if self._version == "latest":
                found = await client.schemas.latest(subject)
            else:
                found = await client.schemas.version(subject, int(self._version))
        needed = await client.schemas.references(found) if found.references else []
        return found, [(name, schema.text) for name, schema in needed]


def imported(path: str, text: str) -> References:
    """The files that a `.proto` file imports, and those that they import, from its own folder: names and texts, each
    after what it imports itself. What is not there is not in it: the schema's reader names the type that is missing.
    Raises SchemaRefused."""
    from kcli.serde.protobuf.schema.text import imports_of

    folder = os.path.dirname(path)
    texts: dict[str, str] = {}
    begun = {path}

    def visit(text: str) -> None:
        for name in imports_of(text):
            file = os.path.join(folder, name)
            if file in begun or len(begun) > MOST_IMPORTS or not os.path.isfile(file):
                continue
            begun.add(file)
            inner = files.read_text(file, files.TEXT, "replace")
            visit(inner)
            texts[name] = inner

    visit(text)
    return list(texts.items())


def _parted(spec: str) -> tuple[str, str]:
    """What is before `#MESSAGE`, and the message: a file's path may have a # of its own."""
    match = re.fullmatch(r"(.+)#([^\W\d]\w*(?:\.[^\W\d]\w*)*)", spec, re.ASCII)
    if match is None or (spec.startswith("file:") and os.path.exists(spec.removeprefix("file:"))):
        return spec, ""
    return match[1], match[2]


class Subject(Frozen):
    """The subject of a topic's keys or values (`kind`): named by the user, or found by a strategy."""

    kind: str = "value"
    name: str = ""
    strategy: str = TOPIC

    @property
    def of_schema(self) -> bool:
        """Whether it is made of the schema's name."""
        return not self.name and self.strategy in NAMED

    async def of(self, topic: str, schemas: Schemas, record: str = "") -> str:
        """`record` is the name of the schema. Raises UsageError where the strategy takes a name and the schema has
        none, and what the registry raises."""
        return self.name or await schemas.subject(self.strategy, topic, self.kind, record)

    async def of_read(self, schemas: Schemas, topic: str, schema: Schema, referred: References, message: str) -> str:
        """The subject of a schema that was read; "" where it is not known. Raises nothing."""
        try:
            record = schema_name(schema, referred, message) if self.of_schema else ""
            return await self.of(topic, schemas, record)
        except KcliError:  # it only chooses among the subjects that the registry names
            return ""


def subject_said(kind: str, word: str | None, registry: RegistrySettings | None) -> Subject:
    """What a line says of the subject of keys or values (`kind`): the `word` of its option is a strategy or a name;
    without it the registry's properties say the strategy. Raises UsageError."""
    if word is not None:
        if not word.strip():
            raise UsageError(f"--{kind}-subject is empty; write topic, record, topic-record, associated or a name")
        strategy = strategy_named(word)
        return Subject(kind=kind, strategy=strategy) if strategy else Subject(kind=kind, name=word)
    return Subject(kind=kind, strategy=TOPIC if registry is None else registry.strategy(kind))
