"""Byte-exact JSON envelopes, a record a line (-J)."""

from __future__ import annotations

from kcli.proto.plain.walk import body, read_headers
from kcli.proto.plain.writing import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.proto.plain.walk import Header, Walked


def texts() -> Callable[[bytes], str]:
    """What shows bytes as JSON: a string, or {"base64": ...} if they are not UTF-8."""
    from _json import encode_basestring

    def text(data: bytes) -> str:
        try:
            return encode_basestring(data.decode())
        except UnicodeDecodeError:
            from binascii import b2a_base64

            return '{"base64":"' + b2a_base64(data, newline=False).decode() + '"}'

    return text


def write_json(h: Header, out: bytearray, topic: str, partition: int, limit: int) -> tuple[int, int]:
    """Append each record as a line of the JSON envelope. Returns as `write_values`."""
    data = body(h)
    text = texts()
    head = f'{{"topic":{text(topic.encode())},"partition":{partition},"offset":'
    kind = ',"timestamp_type":"append","key":' if h.attributes & 8 else ',"timestamp_type":"create","key":'

    def show(row: Walked) -> bytes:
        offset, timestamp, key, key_length, value, value_length, at, count = row
        keyed = "null" if key_length < 0 else text(data[key : key + key_length])
        content = "null" if value_length < 0 else text(data[value : value + value_length])
        pairs = ""
        if count:
            pairs = ",".join(
                f"[{text(name.encode('utf-8', 'surrogateescape'))},{'null' if held is None else text(held)}]"
                for name, held in read_headers(data, at, count)
            )
        line = f'{head}{offset},"timestamp":{timestamp}{kind}{keyed},"value":{content},"headers":[{pairs}]}}\n'
        return line.encode()

    return write(h, data, out, limit, show)
