"""Payloads as a line has them: raw bytes, or hex and base64, a payload a line."""

from __future__ import annotations

import base64
import binascii

from kcli.cli.documents.input_file import read_file
from kcli.errors import UsageError
from kcli.system.files import DOCUMENT

RAW, HEX, BASE64 = "raw", "hex", "base64"
FORMS = (RAW, HEX, BASE64)


def content_of(words: list[str]) -> bytes:
    """The bytes of the one FILE that a line names; `-` and no FILE are stdin. Raises UsageError."""
    if len(words) > 1:
        raise UsageError(f"unexpected argument {words[1]!r}: one FILE, or stdin")
    return read_file(words[0] if words else "-", DOCUMENT)


def payloads_of(data: bytes, form: str) -> list[bytes]:
    """The payloads in what was read. Raises UsageError with the number of the line."""
    if form == RAW:
        return [data]
    read = _of_hex if form == HEX else _of_base64
    found = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(read(line))
        except (ValueError, binascii.Error):
            raise UsageError(f"input line {number}: not {form}") from None
    return found


def _of_hex(line: bytes) -> bytes:
    """Also as psql (\\x00ff), as a number (0x00ff) and with colons between the bytes."""
    text = line.decode("ascii").strip()
    for front in ("\\x", "0x"):
        text = text.removeprefix(front)
    return bytes.fromhex(text.replace(":", " "))


def _of_base64(line: bytes) -> bytes:
    return base64.b64decode(line.strip(), validate=True)


def shown(payload: bytes, form: str) -> bytes:
    """A payload as it is printed."""
    if form == RAW:
        return payload
    return (payload.hex().encode() if form == HEX else base64.b64encode(payload)) + b"\n"
