"""kcat's -s: keys and values unpacked as numbers and text, in Python's and kcat's letters.

`<` and `>` mean what kcat's help says; kcat 1.7.1 itself reads everything as big-endian (docs/kcat.md).
"""

from __future__ import annotations

from struct import calcsize, unpack_from

from kcli.errors import DecodeError


class Unpacked(DecodeError):
    """What could not be unpacked. `before` is what was printed of it already, as kcat prints it; `what` begins the
    sentence."""

    def __init__(self, reason: str, before: bytes, what: str = "") -> None:
        super().__init__(what + reason)
        self.before = before
        self.reason = reason


def unpack(what: str, pack: str, data: bytes) -> bytes:
    """`data` as text. `what` is key or value. Raises Unpacked."""
    out = bytearray()
    order = ">"
    place = 0
    for token in pack:
        left = len(data) - place
        if token in "<>":
            order = token
        elif token == " ":
            out += b" "
        elif token == "s":
            text = data[place:]
            out += text[: text.find(b"\0")] if b"\0" in text else text
            place = len(data)
        elif token == "$":
            if left > 0:
                raise Unpacked(f"expected {what} end-of-input, but {left} bytes remaining", bytes(out))
        else:
            size = calcsize(order + token)
            if size > left:
                reason = f"{what} truncated, expected {size} bytes to unpack {token} but only {left} bytes remaining"
                raise Unpacked(reason, bytes(out))
            (found,) = unpack_from(order + token, data, place)
            out += found if token == "c" else b"%d" % found
            place += size
    return bytes(out)
