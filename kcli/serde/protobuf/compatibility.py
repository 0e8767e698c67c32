"""Whether one Protobuf schema can read data of another, by the rules of Confluent's registry: package and messages must
remain, and fields must keep their number and wire format. Messages of imported files are compared if a field has that
type."""

from __future__ import annotations

from kcli.proto import protobuf_code as code
from kcli.serde.avro.compatibility import Incompatibility
from kcli.serde.protobuf.schema.types import Enum, Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kcli.serde.protobuf.reader import ProtobufSchema
    from kcli.serde.protobuf.schema.types import Field

ALIKE = (
    {code.INT32, code.UINT32, code.INT64, code.UINT64, code.BOOL},
    {code.SINT32, code.SINT64},
    {code.FIXED32, code.SFIXED32},
    {code.FIXED64, code.SFIXED64},
    {code.STRING, code.BYTES},
)
"""Kinds whose encodings are interchangeable."""
WORDS = {kind: word for word, kind in code.KINDS.items()}


def incompatibilities(reader: ProtobufSchema, writer: ProtobufSchema) -> list[Incompatibility]:
    """Return why the reader's schema cannot read everything that the writer's can write; empty if it can."""
    compared = {message.name for message in _every(writer.messages)}
    reasons = list(_messages(reader.messages, writer.messages, "", compared))
    now, before = ({message.name.rpartition(".")[0] for message in one.messages} for one in (reader, writer))
    if now and before and now != before:
        why = f"the package is {''.join(now) or 'none'}, but was {''.join(before) or 'none'}"
        reasons.insert(0, Incompatibility("PACKAGE_CHANGED", "/", why))
    return reasons


def _every(messages: Iterable[Message]) -> Iterator[Message]:
    for message in messages:
        yield message
        yield from _every(message.nested)


def _messages(
    reader: Sequence[Message], writer: Sequence[Message], at: str, compared: set[str]
) -> Iterator[Incompatibility]:
    """Compare messages of a file, or nested ones, by name. `compared` are the names of the writer's messages that are
    compared separately."""
    found = {_last(message): message for message in reader if not message.entry}
    for before in writer:
        now, here = found.get(_last(before)), f"{at}/{_last(before)}"
        if before.entry:
            continue
        if now is None:
            yield Incompatibility("MESSAGE_REMOVED", here, f"the message {before.name} is not there")
        else:
            yield from _fields(now, before, here, compared)
            yield from _messages(now.nested, before.nested, here, compared)


def _fields(reader: Message, writer: Message, here: str, compared: set[str]) -> Iterator[Incompatibility]:
    oneofs = {field.oneof for field in reader.fields.values()}
    surviving = {field.oneof for number, field in writer.fields.items() if number in reader.fields}
    for number, before in sorted(writer.fields.items()):
        now, place = reader.fields.get(number), f"{here}/{number}"
        if now is not None:
            yield from _field(now, before, place)
            yield from _imported(now, before, place, compared)
        elif before.oneof and before.oneof in oneofs | surviving:  # otherwise the whole oneof was removed
            yield Incompatibility(
                "ONEOF_FIELD_REMOVED", place, f"the field {before.name} left its oneof {before.oneof}"
            )
        elif before.label == "required":
            yield Incompatibility("REQUIRED_FIELD_REMOVED", place, f"the required field {before.name} is not there")
    for number, now in sorted(reader.fields.items()):
        if now.label == "required" and number not in writer.fields:
            yield Incompatibility("REQUIRED_FIELD_ADDED", f"{here}/{number}", f"the field {now.name} is required")
    for oneof in dict.fromkeys(field.oneof for field in reader.fields.values() if field.oneof):
        yield from _exclusive(reader, writer, oneof, here)


def _exclusive(reader: Message, writer: Message, oneof: str, here: str) -> Iterator[Incompatibility]:
    """Whether a oneof now allows only one of several fields that a message could have before."""
    numbers = sorted(number for number, field in reader.fields.items() if field.oneof == oneof)
    before = [(number, writer.fields[number]) for number in numbers if number in writer.fields]
    free = [field.name for _, field in before if not field.oneof]
    if len({field.oneof or number for number, field in before}) > 1:
        type = "MULTIPLE_FIELDS_MOVED_TO_ONEOF" if len(free) > 1 else "FIELD_MOVED_TO_EXISTING_ONEOF"
        names = " and ".join(field.name for _, field in before)
        yield Incompatibility(type, here, f"{names} are in one oneof now ({oneof}), which keeps the last of them")


def _imported(now: Field, before: Field, place: str, compared: set[str]) -> Iterator[Incompatibility]:
    """Compare a message of another file that is the type of a field, or of a map's values."""
    if now.entry is not None and before.entry is not None:
        now, before = now.entry.fields[2], before.entry.fields[2]
    if not isinstance(now.type, Message) or not isinstance(before.type, Message) or not _alike(now, before):
        return
    if before.type.name in compared:
        return
    compared.add(before.type.name)
    yield from _fields(now.type, before.type, f"{place}/{_last(before.type)}", compared)


def _field(now: Field, before: Field, place: str) -> Iterator[Incompatibility]:
    if not _alike(now, before):
        yield Incompatibility(
            "FIELD_KIND_CHANGED", place, f"the field {before.name} is {_word(now)}, and was {_word(before)}"
        )
    elif now.repeated != before.repeated and not (now.type or now.kind in (code.STRING, code.BYTES)):
        label = "repeated" if now.repeated else "not repeated"
        yield Incompatibility("FIELD_NUMERIC_LABEL_CHANGED", place, f"the field {before.name} is {label} now")


def _alike(now: Field, before: Field) -> bool:
    if (now.entry is None) != (before.entry is None):
        return False
    if now.entry is not None and before.entry is not None:
        return all(_alike(now.entry.fields[number], before.entry.fields[number]) for number in (1, 2))
    if isinstance(now.type, Message) or isinstance(before.type, Message):
        return (
            isinstance(now.type, Message) and isinstance(before.type, Message) and _last(now.type) == _last(before.type)
        )
    kinds = {code.INT32 if isinstance(field.type, Enum) else field.kind for field in (now, before)}
    return len(kinds) == 1 or any(kinds <= group for group in ALIKE)


def _word(field: Field) -> str:
    if field.entry is not None:
        return f"map<{_word(field.entry.fields[1])}, {_word(field.entry.fields[2])}>"
    return field.type.name if field.type is not None else WORDS.get(field.kind, "a group")


def _last(message: Message) -> str:
    return message.name.rpartition(".")[2]
