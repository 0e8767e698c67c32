"""What a certificate says, read from its DER: Python's ssl tells it only of one that it trusts, and the doctor is asked
about the others. Subject, issuer, names and times; nothing is verified here."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import ip_address

from kcli.values import Frozen

UTC_TIME, COMMON_NAME, SUBJECT_ALT_NAME = 0x17, b"\x55\x04\x03", b"\x55\x1d\x11"
VERSION, EXTENSIONS = 0xA0, 0xA3
DNS, ADDRESS = 0x82, 0x87


class Certificate(Frozen):
    """`names` are those a client may ask for."""

    subject: str = ""
    issuer: str = ""
    names: tuple[str, ...] = ()
    begins: datetime | None = None
    ends: datetime | None = None


def read(der: bytes) -> Certificate | None:
    """The certificate; None for bytes that are none."""
    try:
        whole = next(_parts(der))[1]
        fields = list(_parts(next(_parts(whole))[1]))
        if fields[0][0] == VERSION:
            fields = fields[1:]
        _, _, issuer, validity, subject = (content for _, content in fields[:5])
        begins, ends = (_time(kind, content) for kind, content in _parts(validity))
        extensions = next((content for kind, content in fields[6:] if kind == EXTENSIONS), b"")
        return Certificate(
            subject=_common(subject), issuer=_common(issuer), names=tuple(_names(extensions)), begins=begins, ends=ends
        )
    except (IndexError, ValueError, StopIteration, RuntimeError):  # the last is StopIteration in a generator
        return None


def _parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(tag, content) of each value. Raises ValueError, IndexError for what is none."""
    at = 0
    while at < len(data):
        kind, size, at = data[at], data[at + 1], at + 2
        if size & 0x80:
            length = size & 0x7F
            if not 0 < length <= 4:
                raise ValueError("a length of no form that DER has")
            size, at = int.from_bytes(data[at : at + length], "big"), at + length
        if at + size > len(data):
            raise ValueError("a value goes beyond its end")
        yield kind, data[at : at + size]
        at += size


def _common(name: bytes) -> str:
    """The common name of a distinguished name, else its last part."""
    last = ""
    for _, relative in _parts(name):
        for _, pair in _parts(relative):
            (_, kind), (_, text) = list(_parts(pair))[:2]
            last = text.decode("utf-8", "replace")
            if kind == COMMON_NAME:
                return last
    return last


def _time(kind: int, content: bytes) -> datetime:
    text = content.decode("ascii")
    if kind == UTC_TIME:
        text = ("19" if text[:2] >= "50" else "20") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


def _names(extensions: bytes) -> Iterator[str]:
    if not extensions:
        return
    for _, extension in _parts(next(_parts(extensions))[1]):
        parts = [content for _, content in _parts(extension)]
        if parts[0] == SUBJECT_ALT_NAME:
            for kind, content in _parts(next(_parts(parts[-1]))[1]):
                if kind == DNS:
                    yield content.decode("ascii", "replace")
                elif kind == ADDRESS and len(content) in (4, 16):
                    yield str(ip_address(content))
