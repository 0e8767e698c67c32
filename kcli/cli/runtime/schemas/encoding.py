"""Keys and values by a schema: JSON that is read, and what is sent of it."""

from __future__ import annotations

from kcli.cli.runtime.schemas.spec import SchemaSpec, subject_said
from kcli.errors import KcliError, UsageError
from kcli.registry.subjects import split
from kcli.schemas import AVRO, PROTOBUF, Reference, Schema, SchemaNotFound
from kcli.serde.contracts.writable import conditions_of
from kcli.serde.schemas.writers import HEADERS, message_indexes, same, writer_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kcli.cli.runtime.schemas.from_record import FromRecord
    from kcli.client import Client
    from kcli.registry.settings import RegistrySettings
    from kcli.schemas import Schemas
    from kcli.serde.contracts.rules import Rule
    from kcli.serde.schemas.readers import References
    from kcli.serde.schemas.writers import Write

    Encode = Callable[[bytes], bytes]
    """A key or a value as it is sent. Raises ValueError for one that does not fit."""
    Found = tuple[SchemaSpec, Schema, References]

FROM_RECORD = "from-record"
NO_SUBJECTS: Mapping[str, str | None] = {}
GLUE = b"\3"
"""The first byte of AWS Glue's frame; then 0 for a payload that is not compressed, and the UUID of the version."""


class Encoding:
    """The schemas of one command line. `registry` is where they are. Raises UsageError."""

    def __init__(
        self,
        specs: dict[str, str],
        registry: RegistrySettings | None,
        *,
        register: bool,
        in_header: bool = False,
        without_rules: bool = False,
        avro_json: bool = False,
        subjects: Mapping[str, str | None] = NO_SUBJECTS,
    ) -> None:
        """`specs` are of "key" and "value", and so are `subjects`, the words of --value-subject and --key-subject;
        `in_header` names the schema by its GUID in a header; `without_rules` runs no rule of a schema, and needs none
        to be run; `avro_json` reads values of Avro as the specification's own JSON."""
        self._without_rules, self._avro_json = without_rules, avro_json
        self.registry = registry
        self.register = register
        self._in_header = in_header
        self.headers: dict[str, tuple[str, bytes | None]] = {}
        """The header of keys and of values that names their schema."""
        self.from_record: FromRecord | None = None
        self._of_records = FROM_RECORD in specs.values()
        if self._of_records:
            others = register or in_header or any(subjects.values()) or set(specs.values()) != {FROM_RECORD}
            if registry is None or others:
                raise UsageError(
                    "from-record uses the schemas of the record: it needs --schema-registry, and cannot be combined "
                    "with another schema, --register, --schema-in or --value-subject"
                )
            specs = {}
        if in_header and registry is None:
            raise UsageError("--schema-in header writes the GUID from a registry: add --schema-registry URL")
        self._specs = {
            kind: SchemaSpec(spec, subject_said(kind, subjects.get(kind), registry), registered=registry is not None)
            for kind, spec in specs.items()
        }
        self._read = subjects.keys()  # keys and values that `consume` reads again; none of `registry encode`
        self._check(subjects)
        if self.register and (registry is None or not any(spec.of_file for spec in self._specs.values())):
            raise UsageError("--register registers the file of --value-schema file:PATH; it needs --schema-registry")
        self.key: Encode | None = None
        self.value: Encode | None = None

    def _check(self, subjects: Mapping[str, str | None]) -> None:
        """Raises UsageError for the subject of a schema that has none, or another."""
        for kind, word in subjects.items():
            of_topic = kind in self._specs and self._specs[kind].of_topic
            if word is not None and (self.registry is None or not of_topic):
                raise UsageError(f"--{kind}-subject requires --{kind}-schema file:PATH or topic, and --schema-registry")

    async def prepare(self, topic: str, client: Client) -> None:
        """Look the schemas up, before a record is read. Raises KcliError."""
        if self._of_records:
            from kcli.cli.runtime.schemas.from_record import FromRecord

            self.from_record = FromRecord(client.schemas, without_rules=self._without_rules, specified=self._avro_json)
        found = {kind: (spec, *await spec.schema(topic, client)) for kind, spec in self._specs.items()}
        for kind in found if self.registry is not None and not self._in_header else ():
            if kind in self._read:
                await self._refuse_context(kind, topic, client.schemas, *found[kind])
        files = None
        if self.registry is not None:
            files = FileSchemas(client.schemas, topic, register=self.register, without_rules=self._without_rules)
            await files.check([one for one in found.values() if one[0].of_file])
        for kind, (spec, schema, referred) in found.items():
            conditions = conditions_of(schema, without=self._without_rules)
            registered = None if spec.of_file else schema
            if spec.of_file and files is not None:
                registered, conditions = await files.registered(spec, schema, referred)
            frame = b"" if registered is None else self._frame(kind, registered)
            if self._in_header:
                if frame[:1] == GLUE:
                    raise UsageError("--schema-in header works only with Confluent's registry; omit it with AWS Glue")
                if kind in self.headers:
                    raise UsageError("--schema-in header works only with Confluent's registry; omit it with Azure")
                id = int.from_bytes(frame[1:], "big")
                guid = schema.guid or (await client.schemas.by_id(id, context=schema.context)).guid
                self.headers[kind] = HEADERS[kind], _named(schema, referred, spec.message, guid)
                frame = b""
            write = writer_of(
                schema,
                referred,
                message=spec.message,
                framed=frame[:1] == b"\0",
                numbered=frame[:1] == GLUE,
                conditions=conditions,
                specified=self._avro_json,
            )
            setattr(self, kind, _encoder(write, frame))

    async def _refuse_context(
        self, kind: str, topic: str, schemas: Schemas, spec: SchemaSpec, schema: Schema, referred: References
    ) -> None:
        """Raises UsageError for an id of a context in which nothing that reads the topic looks ids up."""
        subject = await spec.subject(topic, schemas, schema, referred) if spec.of_file else schema.subject
        context = split(subject)[0]
        if context != split(spec.said)[0]:
            raise UsageError(
                f"{subject} is in the context {context or '.'}, where consume does not look up the ids of {topic}'s "
                f"{kind}s; write --{kind}-schema topic --{kind}-subject '{subject}', and read with the same "
                f"--{kind}-subject"
            )

    def _frame(self, kind: str, schema: Schema) -> bytes:
        """What is in front of the payload: the id, the UUID of AWS Glue, which has no ids, or nothing for Azure, whose
        header is then known. Raises UsageError."""
        if schema.id >= 0:
            return b"\0" + schema.id.to_bytes(4, "big")
        of = "" if self.registry is None else self.registry.kind
        if of == "azure":
            if kind == "key" or schema.kind != AVRO:
                raise UsageError(f"{schema.name}: Azure's header works only with Avro schemas of values")
            self.headers[kind] = "content-type", f"avro/binary+{schema.guid.replace('-', '').lower()}".encode()
            return b""
        if of != "glue":
            raise UsageError(f"{schema.name}: it has no id, which the record's frame needs")
        return GLUE + b"\0" + bytes.fromhex(schema.guid.replace("-", ""))


def _named(schema: Schema, referred: References, message: str, guid: str) -> bytes:
    """The header's content: the GUID, and the indexes of a message of Protobuf. Raises UsageError."""
    if not guid:
        raise UsageError(f"{schema.name}: the registry has no GUID, which --schema-in header needs; omit --schema-in")
    indexes = message_indexes(schema, referred, message) if schema.kind == PROTOBUF else b""
    return b"\1" + bytes.fromhex(guid.replace("-", "")) + indexes


def _encoder(write: Write, frame: bytes) -> Encode:
    def encode(data: bytes) -> bytes:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise ValueError("is not UTF-8") from None
        return frame + write(text)

    return encode


class FileSchemas:
    """The files of one command line, for the keys and the values of a topic."""

    def __init__(self, schemas: Schemas, topic: str, *, register: bool, without_rules: bool) -> None:
        self._schemas, self._topic, self._register = schemas, topic, register
        self._without_rules = without_rules
        self._done: list[str] = []

    async def check(self, files: Sequence[Found]) -> None:
        """Of two schemas to register, refuse both where the registry refuses one. Raises KcliError."""
        if not self._register or len(files) < 2:
            return
        for spec, schema, referred in files:
            subject = await spec.subject(self._topic, self._schemas, schema, referred)
            await self._conditions(subject)
            if not referred:  # else the registry cannot read it before it has the files that it imports
                await self._schemas.check(subject, schema.replace(subject=""))

    async def registered(self, spec: SchemaSpec, schema: Schema, referred: References) -> tuple[Schema, list[Rule]]:
        """A file's schema as its registry has it, with --register a new one; and its subject's conditions. Raises
        KcliError."""
        subject = await spec.subject(self._topic, self._schemas, schema, referred)
        if not self._register:
            latest = await self._latest(subject, schema, referred)
            return latest, conditions_of(latest, without=self._without_rules)
        conditions = await self._conditions(subject)
        try:
            schema = await self._with_imports(schema, referred)
            id = await self._schemas.register(subject, schema.replace(subject=""))
        except KcliError as problem:
            for done in self._done:
                problem.args = (f"{problem.args[0]}; {done} was registered and stays registered",)
            raise
        self._done.append(f"the schema of {subject}")
        if id >= 0:
            return schema.replace(id=id), conditions
        return await self._latest(subject, schema, referred), conditions  # its UUID names it

    async def _with_imports(self, schema: Schema, referred: References) -> Schema:
        """A schema whose imports are registered, each under its path, as Confluent's serializer does it. Raises
        KcliError."""
        known: dict[str, Reference] = {}
        if not referred:
            return schema
        from kcli.serde.protobuf.reader import is_descriptor

        for name, text in referred:
            if is_descriptor(text):
                raise UsageError(
                    f"{schema.name} imports {name}, and --register registers the imports of a .proto file only; "
                    "use kcli registry register with --reference"
                )
            id = await self._schemas.register(name, Schema(kind=PROTOBUF, text=text, references=_direct(text, known)))
            subject, version = await self._schemas.use_of(await self._schemas.by_id(id), name)
            if subject != name:
                version = (await self._schemas.latest(name)).version
            known[name] = Reference(name, name, version)
            self._done.append(f"the schema of {name}")
        return schema.replace(references=_direct(schema.text, known))

    async def _conditions(self, subject: str) -> list[Rule]:
        """The conditions of the subject's latest version, which a new one inherits."""
        try:
            latest = await self._schemas.latest(subject)
        except SchemaNotFound:
            return []
        return conditions_of(latest, without=self._without_rules)

    async def _latest(self, subject: str, schema: Schema, referred: References) -> Schema:
        """The latest version. Raises UsageError where it is another schema."""
        latest = await self._schemas.latest(subject)
        needed = await self._schemas.references(latest) if latest.references else []
        if same(latest, schema, [(name, one.text) for name, one in needed], referred):
            return latest
        raise UsageError(f"the latest version of {subject} differs from the file; --register registers the file")


def _direct(text: str, known: dict[str, Reference]) -> tuple[Reference, ...]:
    """The references of a file among those that are registered."""
    from kcli.serde.protobuf.schema.text import imports_of

    return tuple(known[name] for name in imports_of(text) if name in known)
