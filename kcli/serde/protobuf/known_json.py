"""The messages of google.protobuf that have a JSON of their own: times, wrappers, Struct and Any.

One that has no such JSON, such as a time after the year 9999, is shown as the message that it is.
"""

from __future__ import annotations

from _json import encode_basestring
from binascii import b2a_base64

from kcli.proto import protobuf_code as code
from kcli.proto.plain.avro_texts import timestamp
from kcli.serde.protobuf.schema.types import Message, camel
from kcli.serde.protobuf.show import scalar, zero
from kcli.serde.protobuf.wire import Payload
from kcli.serde.schemas.payloads import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.serde.protobuf.show import Show, Shown
    from kcli.serde.protobuf.wire import Tree

FIRST, LAST = -62_135_596_800, 253_402_300_799
"""Seconds of the years 1 to 9999, from 1970 on."""
NANOS = 10**9
LONGEST_DURATION = 315_576_000_000  # seconds


def digits(nanos: int) -> int:
    """How many digits of a second are written: 0, 3, 6 or 9."""
    return 0 if not nanos else 3 if nanos % 10**6 == 0 else 6 if nanos % 1000 == 0 else 9


def _timestamp(shown: Shown, tree: Tree, depth: int) -> bool:
    seconds, nanos = tree.get(1, 0), tree.get(2, 0)
    if not (FIRST <= seconds <= LAST and 0 <= nanos < NANOS):
        return False
    count = digits(nanos)
    text = timestamp(seconds * 10 ** (count or 3) + nanos // 10 ** (9 - (count or 3)), count or 3, utc=True).decode()
    shown.put(text if count else text.replace(".000Z", "Z"))
    return True


def _duration(shown: Shown, tree: Tree, depth: int) -> bool:
    seconds, nanos = tree.get(1, 0), tree.get(2, 0)
    if abs(seconds) > LONGEST_DURATION or abs(nanos) >= NANOS or seconds * nanos < 0:
        return False
    count = digits(abs(nanos))
    part = f".{abs(nanos) // 10 ** (9 - count):0{count}d}" if count else ""
    shown.put(f'"{"-" if seconds < 0 or nanos < 0 else ""}{abs(seconds)}{part}s"')
    return True


def _field_mask(shown: Shown, tree: Tree, depth: int) -> bool:
    shown.put(encode_basestring(",".join(camel(path) for path in tree.get(1, ()))))
    return True


def _wrapper(kind: int) -> Show:
    def show(shown: Shown, tree: Tree, depth: int) -> bool:
        shown.put(scalar(kind, tree.get(1, zero(kind))))
        return True

    return show


def _struct(shown: Shown, tree: Tree, depth: int) -> bool:
    before = "{"
    for name, value in tree.get(1, {}).items():
        shown.put(f"{before}{encode_basestring(name)}:")
        before = ","
        _value(shown, value, depth + 1)
    shown.put("{}" if before == "{" else "}")
    return True


def _list(shown: Shown, tree: Tree, depth: int) -> bool:
    before = "["
    for value in tree.get(1, ()):
        shown.put(before)
        before = ","
        _value(shown, value, depth + 1)
    shown.put("[]" if before == "[" else "]")
    return True


def _value(shown: Shown, tree: Tree, depth: int) -> bool:
    if 5 in tree:
        return _struct(shown, tree[5], depth + 1)
    if 6 in tree:
        return _list(shown, tree[6], depth + 1)
    kinds = ((2, code.DOUBLE), (3, code.STRING), (4, code.BOOL))
    shown.put(next((scalar(kind, tree[number]) for number, kind in kinds if number in tree), "null"))
    return True


def _any(shown: Shown, tree: Tree, depth: int) -> bool:
    """The message within by its type's name; one of a type that the schema does not have as base64."""
    url, data = tree.get(1, ""), tree.get(2, b"")
    if not url and not data:
        return False
    shown.put(f'{{"@type":{encode_basestring(url)}')
    message, inner = shown.types.get(url.rpartition("/")[2]), None
    if isinstance(message, Message):
        try:
            inner = Payload(data).tree(message)
        except Unreadable:
            inner = None
    if inner is None or not isinstance(message, Message):
        shown.put(f',"value":"{b2a_base64(data, newline=False).decode()}"}}')
    elif message.name in shown.known:
        shown.put(',"value":')
        shown.message(message, inner, depth + 1)
        shown.put("}")
    else:
        shown.fields(message, inner, ",", depth + 1)
        shown.put("}")
    return True


WRAPPERS = {
    "Double": code.DOUBLE,
    "Float": code.FLOAT,
    "Int64": code.INT64,
    "UInt64": code.UINT64,
    "Int32": code.INT32,
    "UInt32": code.UINT32,
    "Bool": code.BOOL,
    "String": code.STRING,
    "Bytes": code.BYTES,
}
KNOWN: dict[str, Show] = {
    "google.protobuf.Timestamp": _timestamp,
    "google.protobuf.Duration": _duration,
    "google.protobuf.FieldMask": _field_mask,
    "google.protobuf.Struct": _struct,
    "google.protobuf.ListValue": _list,
    "google.protobuf.Value": _value,
    "google.protobuf.Any": _any,
    **{f"google.protobuf.{name}Value": _wrapper(kind) for name, kind in WRAPPERS.items()},
}
