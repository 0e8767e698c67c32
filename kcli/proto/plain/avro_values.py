"""Avro values of any type as JSON: unions, records, arrays and maps here, all others by `avro_scalars`."""

from __future__ import annotations

from kcli.proto import avro_code as op
from kcli.proto import faults
from kcli.proto.faults import Fault
from kcli.proto.plain.avro_scalars import READ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.plain.avro_payload import Payload


def read_payload(r: Payload) -> bytes:
    read_value(r, 0, 0)
    if r.at != len(r.data):
        raise Fault(faults.LEFT)
    return b"".join(r.out)


def read_value(r: Payload, place: int, depth: int) -> None:
    code = r.code
    closing: list[bytes] = []
    while True:  # unions and wrappers continue in place: a level of Python's stack is one of the value's
        kind = code[place]
        if kind == op.UNION:
            place = code[place + 2 + r.index(code[place + 1])]
        elif kind == op.WRAP:
            r.put(r.texts[code[place + 1]])
            closing.append(b"}")
            place = code[place + 2]
        else:
            break
    if kind == op.RECORD:
        _record(r, place, depth + 1)
    elif kind in (op.ARRAY, op.MAP):
        _blocks(r, place, depth + 1)
    else:
        READ[kind](r, place)
    for end in closing:
        r.put(end)


def _record(r: Payload, place: int, depth: int) -> None:
    if depth > op.DEEPEST:
        raise Fault(faults.DEEP)
    code, before = r.code, r.at
    for field in range(place + 3, place + 3 + 2 * code[place + 1], 2):
        if code[field] < 0:
            kept, r.out, size = r.out, [], r.size
            read_value(r, code[field + 1], depth)
            r.out, r.size = kept, size
        else:
            r.put(r.texts[code[field]])
            read_value(r, code[field + 1], depth)
    if r.at == before:
        r.empty()
    r.put(r.texts[code[place + 2]])


def _blocks(r: Payload, place: int, depth: int) -> None:
    if depth > op.DEEPEST:
        raise Fault(faults.DEEP)
    item, fewest = r.code[place + 1], r.code[place + 2]
    named = r.code[place] == op.MAP
    r.put(b"{" if named else b"[")
    between = b""
    while (count := r.number()) != 0:
        if count < 0:
            count = -count
            r.length()  # of the block's bytes, for readers that skip it
        if count > (len(r.data) - r.at) // fewest if fewest else count > op.MOST_NOTHING:
            raise Fault(faults.BLOCK if fewest else faults.NOTHING)
        for _ in range(count):
            r.put(between)
            between = b","
            if named:
                r.string()
                r.put(b":")
            read_value(r, item, depth)
    r.put(b"}" if named else b"]")
