r"""`produce -f '%k %h{trace} %s'`: the fields of a line, with the tokens of `consume -f`.

A token takes what there is up to the text behind it in the template; the last one takes the rest of the line.
"""

from __future__ import annotations

from kcli.cli.output.records.template import split_template
from kcli.errors import UsageError
from kcli.value_formats import NUMBERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.cli.output.records.envelope import Row

    Read = Callable[[bytes], bytes]

_TOKENS = (
    "s %v value, %k key, both also {hex}, {base64} or {int32}, %h{NAME} header, %T time in ms, %T{iso}, %p partition, "
    "%t and %o (ignored)"
)
_PACKED = (None, "hex", "base64", *NUMBERS)


class LineTemplate:
    """A template of input lines. Raises UsageError for one that no line can be read by."""

    def __init__(self, text: str, delimiter: bytes) -> None:
        items = split_template(text)
        if items and isinstance(items[-1], bytes) and items[-1].endswith(delimiter):
            items[-1] = items[-1].removesuffix(delimiter)  # the end of the line, as in `consume -f`
            if not items[-1]:
                items.pop()
        self._before = b""
        if items and isinstance(items[0], bytes):
            self._before = items[0]
            del items[0]
        self._fields: list[tuple[str, str | None, bytes]] = []  # token, modifier, the text behind it
        for item in items:
            if isinstance(item, bytes):
                name, modifier, _ = self._fields.pop()
                self._fields.append((name, modifier, item))
            else:
                if self._fields and not self._fields[-1][2]:
                    two = f"%{self._fields[-1][0]} and %{item[0]}"
                    raise UsageError(f"-f {text}: put a delimiter between {two}")
                self._fields.append((_checked(*item), item[1], b""))
        if not any(name == "s" for name, _, _ in self._fields):
            raise UsageError(f"-f {text}: %s, the value, is missing; known: %{_TOKENS}")

    def row(self, line: bytes) -> Row:
        """The record of a line. Raises ValueError for a line of another form."""
        if not line.startswith(self._before):
            raise ValueError(f"does not start with {_shown(self._before)}")
        place = len(self._before)
        partition = timestamp = key = value = None
        headers: list[tuple[str, bytes | None]] = []
        for number, (name, modifier, behind) in enumerate(self._fields, 1):
            last = number == len(self._fields)
            stop = len(line) if not behind else line.rfind(behind, place) if last else line.find(behind, place)
            if stop < 0:
                raise ValueError(f"has no {_shown(behind)} after its %{name}")
            piece, place = line[place:stop], stop + len(behind)
            if name == "s":
                value = _decoded(piece, modifier)
            elif name == "k":
                key = _decoded(piece, modifier)
            elif name == "h" and modifier is not None:
                headers.append((modifier, piece))
            elif name == "T":
                timestamp = _time(piece)
            elif name == "p":
                partition = _number(piece, "%p")
        if place != len(line):
            raise ValueError(f"does not end with {_shown(self._fields[-1][2])}")
        return partition, timestamp, key, value, headers


def _checked(name: str, modifier: str | None) -> str:
    """The token that is read for a token of `consume -f`. Raises UsageError."""
    name = {"v": "s"}.get(name, name)
    known = {"s": _PACKED, "k": _PACKED, "T": (None, "iso"), "p": (None,), "t": (None,), "o": (None,)}
    if name == "h":
        if not modifier or "%" in modifier:
            raise UsageError("-f: write a header as %h{NAME}")
        return name
    if modifier not in known.get(name, ()):
        braces = "" if modifier is None else f"{{{modifier}}}"
        raise UsageError(f"-f: %{name}{braces} cannot be read from a line; known: %{_TOKENS}")
    return name


def _decoded(piece: bytes, modifier: str | None) -> bytes:
    if modifier is None:
        return piece
    from binascii import a2b_base64, a2b_hex

    try:
        if modifier in NUMBERS:
            from kcli.serde.binary.numbers import packed_number

            return packed_number(modifier, piece.decode())
        return a2b_hex(piece) if modifier == "hex" else a2b_base64(piece, strict_mode=True)
    except ValueError:
        raise ValueError(f"{_shown(piece)} is not {modifier}") from None


def _time(piece: bytes) -> int | None:
    from time import time

    from kcli.errors import KcliError
    from kcli.grammar.offsets import read_time

    if not piece:
        return None
    try:
        moment = int(piece) if piece.isdigit() else read_time(piece.decode(), int(time() * 1000))
    except (UnicodeDecodeError, KcliError):
        moment = None
    if moment is None or not 0 <= moment < 1 << 63:
        raise ValueError(f"{_shown(piece)} is not a time")
    return moment


def _number(piece: bytes, token: str) -> int:
    if not piece.isdigit() or int(piece) >= 1 << 31:
        raise ValueError(f"{_shown(piece)} is not a number for {token}")
    return int(piece)


def _shown(piece: bytes) -> str:
    text = piece.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 40 else text[:39] + "…")
