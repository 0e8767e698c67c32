"""Keys and values as Avro: JSON that is read, and what is sent of it by a schema."""

from __future__ import annotations

import json

from kcli.cli.runtime.schemas.spec import SchemaSpec
from kcli.errors import UsageError
from kcli.schemas import AVRO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.client import Client
    from kcli.registry.settings import RegistrySettings
    from kcli.schemas import Schema

    Encode = Callable[[bytes], bytes]
    """A key or a value as it is sent. Raises ValueError for one that does not fit."""

WRITING = ("WRITE", "WRITEREAD")


class Encoding:
    """The schemas of one command line. `registry` is where they are. Raises UsageError."""

    def __init__(self, specs: dict[str, str], registry: RegistrySettings | None, *, register: bool) -> None:
        """`specs` are of "key" and "value"."""
        self.registry = registry
        self.register = register
        self._specs = {kind: SchemaSpec(spec, kind, registered=registry is not None) for kind, spec in specs.items()}
        if self.register and (registry is None or not any(spec.of_file for spec in self._specs.values())):
            raise UsageError("--register registers the file of --value-schema file:PATH; it needs --schema-registry")
        self.key: Encode | None = None
        self.value: Encode | None = None

    async def prepare(self, topic: str, client: Client) -> None:
        """Look the schemas up, before a record is read. Raises KcliError."""
        for kind, spec in self._specs.items():
            schema, referred = await spec.schema(topic, client)
            if schema.kind != AVRO:
                raise UsageError(f"--{kind}-schema: {schema.name} is of the kind {schema.kind}; produce writes Avro")
            _refuse_rules(schema)
            frame = b""
            if not spec.of_file:
                frame = b"\0" + schema.id.to_bytes(4, "big")
            elif self.registry is not None:
                frame = b"\0" + (await self._id(spec, schema, topic, client)).to_bytes(4, "big")
            setattr(self, kind, _encoder(schema, referred, frame))

    async def _id(self, spec: SchemaSpec, schema: Schema, topic: str, client: Client) -> int:
        """The id of a file's schema: the one that it has, or with --register a new one."""
        subject = spec.subject(topic)
        if self.register:
            return await client.schemas.register(subject, schema.replace(subject=""))
        latest = await client.schemas.latest(subject)
        if _same(latest, schema):
            return latest.id
        raise UsageError(
            f"the latest version of {subject} is another schema than the file; --register registers the file"
        )


def _same(one: Schema, other: Schema) -> bool:
    """Whether two texts are one schema to readers."""
    from kcli.serde.avro.canonical import canonical
    from kcli.serde.avro.parse import parse

    return one.kind == other.kind and canonical(parse(one.text)) == canonical(parse(other.text))


def _refuse_rules(schema: Schema) -> None:
    """Raises UsageError for a schema whose rules change or check what is written: they are not run here, and plain
    text must not be stored where a rule encrypts."""
    found = json.loads(schema.rule_set) if schema.rule_set else {}
    for rules in found.values() if isinstance(found, dict) else ():
        for rule in rules if isinstance(rules, list) else ():
            if isinstance(rule, dict) and rule.get("mode") in WRITING and not rule.get("disabled"):
                name, kind = rule.get("name"), rule.get("type")
                raise UsageError(f"{schema.name} has the rule {name} ({kind}) for writing, which kcli does not run")


def _encoder(schema: Schema, referred: list[str], frame: bytes) -> Encode:
    from kcli.serde.avro.exact import BadValue, read_json
    from kcli.serde.avro.parse import parse
    from kcli.serde.avro.write import AvroWriter

    parsed = parse(schema.text, referred)
    writer = AvroWriter(parsed)
    texts = parsed.kind == "string"

    def encode(data: bytes) -> bytes:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise ValueError("is not UTF-8") from None
        try:
            value = read_json(text)
        except ValueError as problem:
            if not texts:
                raise ValueError(f"is not JSON: {problem}") from None
            value = text
        if texts and not isinstance(value, str):
            value = text  # a key such as 42 is a text here
        try:
            return frame + writer.write(value)
        except BadValue as problem:
            raise ValueError(str(problem)) from None

    return encode
