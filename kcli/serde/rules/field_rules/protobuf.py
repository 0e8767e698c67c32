"""CEL_FIELD rules for Protobuf payloads.

As in Confluent's serializers, a rule applies to scalars, and to each item of a repeated field, but not to enums and map
values. Unset fields with presence are skipped. A Timestamp counts as one value of type LONG, Confluent's Decimal as one
of type BYTES, which a rule can test but not create.
"""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime

from kcli.proto import protobuf_code as code
from kcli.proto.plain.protobuf_tree import ZERO, Payload
from kcli.proto.plain.protobuf_tree import Program as Tables
from kcli.proto.varint import encode_unsigned
from kcli.serde.avro.exact import BadValue
from kcli.serde.contracts.tags import Tags
from kcli.serde.protobuf.reader import parsed_schema
from kcli.serde.protobuf.scalars import ENCODE, is_zero
from kcli.serde.protobuf.schema.types import Enum, Message
from kcli.serde.rules.cel_values import message_value, one_value
from kcli.serde.rules.field_rules.field import KEPT, FieldRule, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from kcli.proto.plain.protobuf_tree import Tree
    from kcli.schemas import Schema
    from kcli.serde.contracts.rules import Rule
    from kcli.serde.protobuf.schema.types import Field
    from kcli.serde.rules.expression import Expression

TIMESTAMP = "google.protobuf.Timestamp"
WHOLE = {TIMESTAMP: "LONG", "confluent.type.Decimal": "BYTES"}
"""Messages that count as one value, and the name of their type."""
INTS = (code.INT32, code.SINT32, code.UINT32, code.FIXED32, code.SFIXED32)
TYPES = {
    code.STRING: "STRING",
    code.BYTES: "BYTES",
    code.FLOAT: "FLOAT",
    code.DOUBLE: "DOUBLE",
    code.BOOL: "BOOLEAN",
    **dict.fromkeys(INTS, "INT"),
}
"""Names of scalar types; all others are LONG."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ProtobufFieldRule:
    """One rule for bare payloads of a message, "" for the first."""

    def __init__(self, schema: Schema, texts: Sequence[str], message: str, rule: Rule, expression: Expression) -> None:
        """Raises SchemaRefused."""
        parsed = parsed_schema(schema.text, tuple(texts))
        self._message, program = parsed.message(message), parsed.program()
        tables = Tables(program.code, program.texts, program.names)
        self._table = tables.messages[program.numbers[id(self._message)]]
        self._tags = Tags(schema, [rule])
        self._field_rule = FieldRule(rule, expression)

    def applied(self, payload: bytes, now: Any) -> bytes:
        """Return the payload with the rule's changes. Raises BadValue if the rule rejects it, Fault."""
        self._field_rule.now = now
        tree = Payload(payload).tree(self._table)
        changed = self._walk(self._message, tree)
        return _written(self._message, tree, 0) if changed else payload

    def _walk(self, message: Message, tree: Tree) -> bool:
        """Apply the rule to a message's fields; return whether it changed."""
        changed = False
        for field in message.fields.values():
            if field.presence and field.number not in tree:
                continue
            held = tree.get(field.number)
            whole = isinstance(field.type, Message) and field.type.name in WHOLE
            if isinstance(field.type, Message) and not whole:
                changed |= self._messages(field, held)
            elif field.repeated:
                made = [self._made(message, tree, field, item) for item in held or ()]
                tree[field.number] = [old if new is KEPT else new for old, new in zip(held or (), made, strict=True)]
                changed |= any(new is not KEPT for new in made)
            else:
                held = ZERO.get(field.kind, 0) if held is None else held
                made_one = self._made(message, tree, field, held)
                if made_one is not KEPT:
                    tree[field.number], changed = made_one, True
        return changed

    def _messages(self, field: Field, held: Any) -> bool:
        """Return the messages in a field, including values of a map."""
        type = field.type if field.entry is None else field.entry.fields[2].type
        if not isinstance(type, Message) or type.name in WHOLE:
            return False
        inner = list((held or {}).values()) if field.entry is not None else held or [] if field.repeated else [held]
        return True in [self._walk(type, item) for item in inner]

    def _made(self, message: Message, tree: Tree, field: Field, held: Any) -> Any:
        """Return the rule's result for a value, in the form of the tree. Raises BadValue."""
        path = f"{message.name}.{field.name}"
        tags = self._tags.of(path, field.tags)
        if isinstance(field.type, Enum) or not self._field_rule.concerns(tags):
            return KEPT
        named = field.type.name if field.type is not None else ""
        type = WHOLE.get(named) or TYPES.get(field.kind, "LONG")
        whole = message_value(message, tree) if self._field_rule.sees_message else None
        value = one_value(field, held)
        made = self._field_rule.made(value, path, type, tags, whole)
        if made is KEPT or made is value:
            return KEPT
        if named == TIMESTAMP and isinstance(made, datetime):
            span = made - EPOCH
            return {1: span.days * 86400 + span.seconds, 2: span.microseconds * 1000}
        if named:
            raise self._field_rule.refused(field.name, f"what is no {named}")
        return self._scalar(field, made)

    def _scalar(self, field: Field, made: Any) -> Any:
        value = plain(made, f"the rule {self._field_rule.rule.name} ({field.name})")
        fits = {
            code.STRING: (str,),
            code.BYTES: (bytes,),
            code.DOUBLE: (int, float),
            code.FLOAT: (int, float),
        }.get(field.kind, (int,))
        if not isinstance(value, fits):
            raise self._field_rule.refused(field.name, "a value of another type")
        if field.kind == code.BOOL:
            return bool(value)
        return float(value) if float in fits else int(value) if int in fits else value


def _written(message: Message, tree: Tree, depth: int) -> bytes:
    """Encode a tree, byte for byte as kcli encodes its JSON. Raises BadValue."""
    parts = []
    for number in sorted(tree):
        field, held = message.fields[number], tree[number]
        try:
            if field.entry is not None:
                parts += [_tagged(field, _written(field.entry, {1: key, 2: item}, depth)) for key, item in held.items()]
            elif not field.repeated:
                inner = _one(field, held, depth)
                parts.append(_tagged(field, inner) if field.presence or not is_zero(inner) else b"")
            elif field.packed and held:
                inner = b"".join(_one(field, item, depth) for item in held)
                parts.append(_tag(field, code.LENGTH) + encode_unsigned(len(inner)) + inner)
            else:
                parts += [_tagged(field, _one(field, item, depth)) for item in held]
        except BadValue as bad:
            raise bad.within(f".{field.name}") from None
    return b"".join(parts)


def _one(field: Field, held: Any, depth: int) -> bytes:
    """Encode a value without its tag. Raises BadValue."""
    if isinstance(field.type, Message):
        return _written(field.type, held, depth + 1)
    if isinstance(field.type, Enum):
        return encode_unsigned(held & code.MASK)
    return ENCODE[field.kind](b64encode(held).decode() if field.kind == code.BYTES else held)


def _tagged(field: Field, inner: bytes) -> bytes:
    if field.kind == code.GROUP:
        return _tag(field, code.START) + inner + _tag(field, code.END)
    if isinstance(field.type, Message):
        inner = encode_unsigned(len(inner)) + inner
    return _tag(field, code.WIRE[field.kind]) + inner


def _tag(field: Field, wire: int) -> bytes:
    return encode_unsigned(field.number << 3 | wire)
