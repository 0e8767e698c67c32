"""Whether one Protobuf schema reads what another wrote, as Confluent's registry decides it: messages stay, and fields
keep their number and the way in which their bytes are written."""

from __future__ import annotations

from kcli.proto import protobuf_code as code
from kcli.serde.avro.compatibility import Incompatibility
from kcli.serde.protobuf.schema.types import Enum, Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.serde.protobuf.reader import ProtobufSchema
    from kcli.serde.protobuf.schema.types import Field

ALIKE = (
    {code.INT32, code.UINT32, code.INT64, code.UINT64, code.BOOL},
    {code.SINT32, code.SINT64},
    {code.FIXED32, code.SFIXED32},
    {code.FIXED64, code.SFIXED64},
    {code.STRING, code.BYTES},
)
"""Kinds of which one reads the bytes of another."""
WORDS = {kind: word for word, kind in code.KINDS.items()}


def incompatibilities(reader: ProtobufSchema, writer: ProtobufSchema) -> list[Incompatibility]:
    """Why the reader's schema does not read all that the writer's may have written; empty where it does."""
    return [reason for message in writer.messages for reason in _message(reader, message, "")]


def _message(reader: ProtobufSchema, writer: Message, at: str) -> Iterator[Incompatibility]:
    here = f"{at}/{writer.name.rpartition('.')[2]}"
    found = reader.types.get(writer.name) or next(
        (message for message in reader.messages if not at and _last(message) == _last(writer)), None
    )  # a file may change its package
    if not isinstance(found, Message):
        yield Incompatibility("MESSAGE_REMOVED", here, f"the message {writer.name} is not there")
        return
    yield from _fields(found, writer, here)
    for inner in writer.nested:
        if not inner.entry:
            yield from _message(reader, inner, here)


def _fields(reader: Message, writer: Message, here: str) -> Iterator[Incompatibility]:
    for number, before in sorted(writer.fields.items()):
        now, place = reader.fields.get(number), f"{here}/{number}"
        if now is not None:
            yield from _field(now, before, place)
        elif before.oneof and any(field.oneof == before.oneof for field in reader.fields.values()):
            yield Incompatibility(
                "ONEOF_FIELD_REMOVED", place, f"the field {before.name} left its oneof {before.oneof}"
            )
        elif before.label == "required":
            yield Incompatibility("REQUIRED_FIELD_REMOVED", place, f"the required field {before.name} is not there")
    for number, now in sorted(reader.fields.items()):
        if now.label == "required" and number not in writer.fields:
            yield Incompatibility("REQUIRED_FIELD_ADDED", f"{here}/{number}", f"the field {now.name} is required")
    for oneof in dict.fromkeys(field.oneof for field in reader.fields.values() if field.oneof):
        numbers = {number for number, field in reader.fields.items() if field.oneof == oneof}
        moved = [number for number in sorted(numbers & writer.fields.keys()) if not writer.fields[number].oneof]
        if len(moved) > 1:
            names = " and ".join(writer.fields[number].name for number in moved)
            reason = f"{names} are in one oneof now ({oneof}), which keeps the last of them"
            yield Incompatibility("MULTIPLE_FIELDS_MOVED_TO_ONEOF", here, reason)


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
