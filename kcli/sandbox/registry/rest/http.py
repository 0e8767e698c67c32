"""HTTP/1.1 as a server has it (RFC 9112): a request off a stream, an answer onto it. What a client sends is bounded:
64 KiB of head, `LARGEST` bytes of body."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http.client import responses

from kcli.values import Value

HEAD = 64 * 1024  # bytes of the request line and the headers
LARGEST = 16 * 1024 * 1024  # bytes of a body
MOST_HEADERS = 100
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE")


class Malformed(Exception):
    """A request that cannot be read; the connection ends with this status."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status


class Head(Value):
    """The first lines of a request; `headers` by their names in lower case. `length` is -1 for a body in chunks."""

    method: str = ""
    target: str = ""
    headers: Mapping[str, str] = {}
    length: int = 0
    keep: bool = True  # whether another request may follow on the connection


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """The next request's head; None at the end of the connection. Raises Malformed."""
    try:
        data = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as end:
        if end.partial.strip():
            raise Malformed(400, "the request ends in its head") from None
        return None
    except asyncio.LimitOverrunError:
        raise Malformed(431, f"the head of the request is longer than {HEAD // 1024} KiB") from None
    return _head(data.decode("latin-1").lstrip("\r\n"))


def _head(text: str) -> Head:
    first, *lines = text.split("\r\n")[:-2]
    words = first.split(" ")
    if len(words) != 3 or words[2] not in ("HTTP/1.1", "HTTP/1.0") or not words[1].startswith(("/", "http://")):
        raise Malformed(400, "this is not a request of HTTP/1.1")
    if words[0] not in METHODS:
        raise Malformed(501, f"no method is supported but {', '.join(METHODS)}")
    headers = _headers(lines)
    wish = headers.get("connection", "").lower()
    keep = "close" not in wish and (words[2] == "HTTP/1.1" or "keep-alive" in wish)
    return Head(method=words[0], target=words[1], headers=headers, length=_length(headers), keep=keep)


def _headers(lines: list[str]) -> dict[str, str]:
    if len(lines) > MOST_HEADERS:
        raise Malformed(431, f"the request has more than {MOST_HEADERS} headers")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise Malformed(400, "a header has no name")
        name = name.lower()
        if name in ("content-length", "transfer-encoding", "authorization") and name in headers:
            raise Malformed(400, f"the header {name} comes twice")
        headers[name] = value.strip()
    return headers


def _length(headers: Mapping[str, str]) -> int:
    coding, given = headers.get("transfer-encoding"), headers.get("content-length")
    if coding is not None:
        if given is not None or coding.lower() != "chunked":
            raise Malformed(400, "the length of the body is not clear")
        return -1
    if given is None:
        return 0
    if not (given.isascii() and given.isdecimal()):
        raise Malformed(400, "Content-Length is not a number")
    if len(given) > 10 or int(given) > LARGEST:
        raise Malformed(413, f"the body is larger than {LARGEST // 1024**2} MiB")
    return int(given)


async def read_body(reader: asyncio.StreamReader, head: Head) -> bytes:
    """Raises Malformed, IncompleteReadError."""
    if head.length >= 0:
        return await reader.readexactly(head.length) if head.length else b""
    chunks, total = [], 0
    while size := await _chunk_size(reader):
        total += size
        if total > LARGEST:
            raise Malformed(413, f"the body is larger than {LARGEST // 1024**2} MiB")
        chunks.append(await reader.readexactly(size))
        if await reader.readexactly(2) != b"\r\n":
            raise Malformed(400, "a chunk of the body has no end")
    for _ in range(MOST_HEADERS):  # trailers, which nothing needs
        if await _line(reader) == b"":
            return b"".join(chunks)
    raise Malformed(431, f"the body has more than {MOST_HEADERS} trailers")


async def _chunk_size(reader: asyncio.StreamReader) -> int:
    digits = (await _line(reader)).partition(b";")[0].strip()
    if not digits or len(digits) > 8 or digits.strip(b"0123456789abcdefABCDEF"):
        raise Malformed(400, "a chunk of the body has no size")
    return int(digits, 16)


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return (await reader.readuntil(b"\r\n"))[:-2]
    except asyncio.LimitOverrunError:
        raise Malformed(431, f"a line of the body is longer than {HEAD // 1024} KiB") from None


def answer(status: int, body: bytes, headers: Mapping[str, str], *, keep: bool, empty: bool = False) -> bytes:
    """The bytes of an answer; `empty` leaves its body out, as HEAD wants it."""
    lines = [f"HTTP/1.1 {status} {responses.get(status, 'Refused')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += [f"Content-Length: {len(body)}"] if status != 204 else []  # which has neither a body nor a length
    lines += [f"Connection: {'keep-alive' if keep else 'close'}", "", ""]
    return "\r\n".join(lines).encode("latin-1") + (b"" if empty else body)
