"""Escapes control characters in keys, values, headers and names, so that a terminal shows them instead of obeying them.

Pipes and files get raw bytes; on a terminal, every control, bidi, zero-width and undecodable byte becomes visible.
"""

from __future__ import annotations

import sys

from kcli.redact import redacted

LONGEST_REASON = 300
_HIDDEN = (
    (0x00, 0x20),  # C0, ESC among them
    (0x7F, 0xA0),  # DEL and C1
    (0x061C, 0x061D),  # Arabic letter mark
    (0x200B, 0x2010),  # zero width, LRM, RLM
    (0x2028, 0x202F),  # line separators, bidi embeddings and overrides
    (0x2060, 0x2070),  # word joiner, invisible operators, bidi isolates
    (0xD800, 0xE000),  # lone surrogates
    (0xFEFF, 0xFF00),  # byte order mark
    (0xFFF9, 0xFFFC),  # interlinear annotation
    (0xFFFE, 0x10000),  # noncharacters
    (0xE0000, 0xE0080),  # tags
)
_TABLE: dict[int, str] = {}


def visible(text: str, keep: str = "") -> str:
    r"""Return the text with everything that a terminal would interpret escaped (`\x1b`, `\u202e`), except `keep`, such
    as "\n"."""
    if text.isascii() and text.isprintable():
        return text
    if not _TABLE:
        _fill()
    table = _TABLE if not keep else {code: shown for code, shown in _TABLE.items() if chr(code) not in keep}
    return text.translate(table)


def printable(text: str) -> str:
    """Return text of a peer for display: without our secrets, without control characters, and limited in length."""
    shown = visible(redacted(text.strip()))
    return shown if len(shown) <= LONGEST_REASON else f"{shown[:LONGEST_REASON]}…"


def put(text: str) -> None:
    """Write text to stdout, escaped if that is a terminal. Raises BrokenPipeError."""
    if sys.stdout.isatty():
        text = visible(text.replace("\r\n", "\n"), keep="\n\t")  # CSV's line ends; a lone \r would overwrite a line
    sys.stdout.write(text)


def visible_bytes(data: bytes, keep: str = "") -> bytes:
    r"""Like `visible`, for bytes: whatever is not UTF-8 becomes `\xNN`."""
    return visible(bytes(data).decode("utf-8", "backslashreplace"), keep).encode("utf-8", "backslashreplace")


def visible_json(data: bytes) -> bytes:
    r"""Return JSON lines for a terminal: C0 is already escaped, the rest becomes `\uNNNN`, so it is still the same
    JSON."""
    if data.isascii() and b"\x7f" not in data:
        return data
    if not _TABLE:
        _fill()
    text = data.decode("utf-8", "backslashreplace")
    return text.translate({code: _as_json(code) for code in _TABLE if code >= 0x7F}).encode()


def _as_json(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _fill() -> None:
    for first, stop in _HIDDEN:
        for code in range(first, stop):
            _TABLE[code] = (
                f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
            )
