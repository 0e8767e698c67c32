"""kcat's -s avro: keys and values behind Confluent's frame, as the JSON that kcat prints."""

from __future__ import annotations

import json
import re

from kcli.cli.commands.cat.output.json import quoted, text
from kcli.cli.commands.cat.output.pack import Unpacked
from kcli.cli.commands.cat.parsing.words import Fatal, fail
from kcli.errors import DecodeError, KcliError
from kcli.proto import avro_code as op
from kcli.proto.core import AvroReader, frame_ids
from kcli.schemas import AVRO
from kcli.serde.avro.parse import parse
from kcli.serde.avro.program import PLAIN, Program
from kcli.serde.schemas.decoder import FRAME, column_of
from kcli.serde.schemas.payloads import Unreadable, read_one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.batch import Batch
    from kcli.schemas import Schemas
    from kcli.serde.avro.types import Type

WORDS = {"k": "key", "s": "value"}


class AvroFields:
    """The fields of one run, "k" and "s". Schemas are looked up before a batch is printed."""

    def __init__(self, fields: str, schemas: Schemas) -> None:
        self.fields = fields
        self._schemas = schemas
        self._readers: dict[int, CReader | str] = {}  # by id; the reason for a schema without a reader

    async def look_up(self, batches: list[Batch]) -> None:
        """The schemas that the batches' frames name. What fails is asked again with later batches, as often as the
        registry's client allows."""
        for batch in batches:
            try:
                columns = batch.columns()
            except DecodeError:
                return  # the printer reports it
            for field in self.fields:
                for id in set(frame_ids(columns.data, *column_of(columns, WORDS[field]))):
                    if id >= 0 and not isinstance(self._readers.get(id), CReader):
                        self._readers[id] = await self._reader(id)

    async def _reader(self, id: int) -> CReader | str:
        try:
            schema = await self._schemas.by_id(id)
            if schema.kind != AVRO:
                return f"schema {id} is {schema.kind}, not Avro"
            needed = await self._schemas.references(schema) if schema.references else []
            return CReader(parse(schema.text, [referred.text for _, referred in needed]))
        except KcliError as problem:
            return str(problem)

    def read(self, field: str, data: bytes) -> tuple[bytes, int]:
        """A key's or a value's JSON, and the id of its schema. Raises Unpacked."""
        what = "key" if field == "k" else "message"
        reason = _no_frame(data)
        if not reason:
            id = int.from_bytes(data[1:FRAME], "big")
            reader = self._readers[id]
            try:
                if isinstance(reader, CReader):
                    return reader.json(data[FRAME:]), id
                reason = reader
            except Unreadable as fault:
                reason = f"Failed to read avro value: {fault} (schema {id})"
        raise Unpacked(reason, b"", f"Avro/Schema-registry {what} deserialization: ")


def _no_frame(data: bytes) -> str:
    """What is wrong with the frame, "" for nothing."""
    if len(data) < FRAME:
        return f"Payload is smaller ({len(data)}) than framing ({FRAME})"
    if data[0]:
        return f"Invalid CP1 magic byte {data[0]}, expected 0: message not produced with Schema-Registry Avro framing"
    return ""


def avro_members(
    avro: AvroFields, place: str, offset: int, key: bytes | None, payload: bytes | None, *, go_on: bool
) -> bytes:
    """A record's key and payload as members of kcat's object. What cannot be read ends the run, or with `go_on` (-E) is
    null and has its reason beside it. Raises Fatal."""
    written = []
    for field, name, data in (("k", b"key", key), ("s", b"payload", payload)):
        word = WORDS[field]
        if data is None or field not in avro.fields:
            written.append(b'"%b":%b' % (name, quoted(data)))
            continue
        try:
            shown, id = avro.read(field, data)
            written.append(b'"%b":%b,"%b_schema_id":%d' % (name, shown, word.encode(), id))
        except Unpacked as problem:
            sentence = f"Failed to deserialize {word} in message in {place} at offset {offset}: {problem.reason}"
            if not go_on:
                raise Fatal(f"{sentence}: terminating") from None
            fail(sentence)
            written.append(b'"%b":null,"%b_error":%b' % (name, name, text(problem.reason)))
    return b",".join(written)


# Values as Apache Avro's C library writes them as JSON (avro_value_to_json of 1.11), which is what kcat prints.
#
# It differs from the specification's JSON: branches of unions have the names without namespaces, numbers have 17
# digits, a float those of a double, and what is not ASCII is escaped. Strings and bytes are not cut at their first NUL,
# as the C library cuts them, and NaN and infinities, which it refuses, are texts.
class _CProgram(Program):
    plain = PLAIN | {"float": op.FLOAT_AS_DOUBLE}

    def label(self, branch: Type) -> str:
        return branch.name.rpartition(".")[2]


class CReader:
    """Reads payloads of one schema."""

    def __init__(self, writer: Type) -> None:
        self._reader = AvroReader(*_CProgram(logical=False, wrapped=True).made(writer, None))

    def json(self, data: bytes) -> bytes:
        """A payload's JSON. Raises Unreadable."""
        return _TOKEN.sub(_spelled, read_one(self._reader, data).decode()).encode()


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?|[,:]')
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|.)")


def _spelled(token: re.Match[str]) -> str:
    text = token[0]
    if text in ",:":
        return f"{text} "
    if text[0] == '"':
        return _ESCAPE.sub(_escaped, json.dumps(json.loads(text)))
    return text if text.lstrip("-").isdigit() else _digits(float(text))


def _escaped(found: re.Match[str]) -> str:
    code = found[1]
    if code is None:
        return found[0]
    return "\x7f" if code == "007f" else f"\\u{code.upper()}"


def _digits(number: float) -> str:
    """As C's `%.17g`, with a point or an exponent without zeros in front."""
    digits, e, exponent = f"{number:.17g}".partition("e")
    if e:
        return f"{digits}e{int(exponent)}"
    return digits if "." in digits else f"{digits}.0"
