"""The messages of google.protobuf that have a JSON of their own: times, wrappers, Struct and Any.

One that has no such JSON, such as a time after the year 9999 or a Value that is no finite number, is shown as the
message that it is.
"""

from __future__ import annotations

from _json import encode_basestring
from binascii import b2a_base64
from math import isfinite

from kcli.proto import protobuf_code as code
from kcli.proto.faults import Fault
from kcli.proto.plain.avro_texts import timestamp
from kcli.proto.plain.protobuf_show import scalar, zero
from kcli.proto.plain.protobuf_tree import Payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.proto.plain.protobuf_program import Message
    from kcli.proto.plain.protobuf_show import Show, Shown
    from kcli.proto.plain.protobuf_tree import Tree


def digits(nanos: int) -> int:
    """How many digits of a second are written: 0, 3, 6 or 9."""
    return 0 if not nanos else 3 if nanos % 10**6 == 0 else 6 if nanos % 1000 == 0 else 9


def field_mask(paths: Iterable[str]) -> bytes:
    """The JSON of a FieldMask."""
    return encode_basestring(",".join(code.camel(path) for path in paths)).encode()


def _timestamp(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    seconds, nanos = tree.get(1, 0), tree.get(2, 0)
    if not (code.FIRST <= seconds <= code.LAST and 0 <= nanos < code.NANOS):
        return False
    count = digits(nanos)
    text = timestamp(seconds * 10 ** (count or 3) + nanos // 10 ** (9 - (count or 3)), count or 3, utc=True).decode()
    shown.put(text if count else text.replace(".000Z", "Z"))
    return True


def _duration(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    seconds, nanos = tree.get(1, 0), tree.get(2, 0)
    if abs(seconds) > code.LONGEST_DURATION or abs(nanos) >= code.NANOS or seconds * nanos < 0:
        return False
    count = digits(abs(nanos))
    part = f".{abs(nanos) // 10 ** (9 - count):0{count}d}" if count else ""
    shown.put(f'"{"-" if seconds < 0 or nanos < 0 else ""}{abs(seconds)}{part}s"')
    return True


def _field_mask(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    shown.put(field_mask(tree.get(1, ())).decode())
    return True


def _wrapper(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    kind = message.fields[1].kind
    shown.put(scalar(kind, tree.get(1, zero(kind))))
    return True


def _struct(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    return _content(shown, message, tree, "{}", depth)


def _list(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    return _content(shown, message, tree, "[]", depth)


def _content(shown: Shown, message: Message, tree: Tree, empty: str, depth: int) -> bool:
    """All that the message has is its first field."""
    if tree.get(1):
        shown.held(message.fields[1], tree[1], depth)
    else:
        shown.put(empty)
    return True


def _value(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    for number, value in tree.items():  # one of a oneof
        if isinstance(value, float) and not isfinite(value):
            return False  # "Infinity" would be a text
        shown.value(message.fields[number], value, depth)
    if not tree:
        shown.put("null")
    return True


def _any(shown: Shown, message: Message, tree: Tree, depth: int) -> bool:
    """The message within by its type's name; one of a type that the schema does not have as base64."""
    url, data = tree.get(1, ""), tree.get(2, b"")
    if not url and not data:
        return False
    shown.put(f'{{"@type":{encode_basestring(url)}')
    number, inner = shown.program.names.get(url.rpartition("/")[2].encode()), None
    if number is not None:
        try:
            inner = Payload(data).tree(shown.program.messages[number])
        except Fault:
            inner = None
    if number is None or inner is None:
        shown.put(f',"value":"{b2a_base64(data, newline=False).decode()}"}}')
        return True
    held = shown.program.messages[number]
    if held.known:
        shown.put(',"value":')
        shown.message(held, inner, depth + 1)
    else:
        shown.fields(held, inner, ",", depth + 1)
    shown.put("}")
    return True


KNOWN: dict[int, Show] = {
    code.TIMESTAMP: _timestamp,
    code.DURATION: _duration,
    code.FIELD_MASK: _field_mask,
    code.WRAPPER: _wrapper,
    code.STRUCT: _struct,
    code.LIST: _list,
    code.VALUE: _value,
    code.ANY: _any,
}
