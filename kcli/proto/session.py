"""Sessions: frames, headers and correlation ids, without I/O, for the client and the server role.

A frame is an int32 size and that many bytes. The size is checked before anything is allocated. Responses contain no API
key, so the client role remembers its requests, in order. A wrong correlation id ends the session, because it cannot be
re-synchronised.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from struct import Struct as Layout

from kcli.errors import DecodeError
from kcli.proto.messages import api_name, request_type
from kcli.proto.runtime import uvarint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.proto.buffer import Buffer
    from kcli.proto.schema import Message, Request, Response

API_VERSIONS = 18
SCRATCH = 64 * 1024
FIRST = 4 * SCRATCH  # of a large frame, whatever its announced size, until one as large was received
KEPT = 2  # buffers besides the one being filled: one in use, one waiting
MORE = 8 * 1024 * 1024  # total bytes up to which a third one is kept, for the next frame
LARGEST_KEPT = 16 * 1024 * 1024
MAX_ID = 0x7FFFFFFF
MOST_TAGS = 1000  # in a header; Kafka has one
LARGEST_PLAIN = 32 * 1024 * 1024
"""Largest response without records in bytes: the metadata of some 700,000 partitions. Objects take twenty times the
memory, and no real cluster sends more."""
WITH_RECORDS = (1, 78)
"""Fetch, ShareFetch."""
LARGEST_KNOWN = 4096  # largest response to ApiVersions that is cached; Kafka's has some 700 bytes
_SIZE = Layout(">i")
_REQUEST_HEADER = Layout(">hhih")
_BEGINNING = Layout(">ihhi")  # the size, and the header up to the correlation id


class FrameReader:
    """Splits a byte stream into frames. The transport writes into `buffer()` and then calls `received(n)`.

    Small frames pass through a scratch buffer; a large frame gets its own buffer, into which the transport writes
    directly. It starts small and grows with the received bytes: announcing a size costs the peer nothing, so it must
    not cost us memory, beyond the largest frame that the peer has sent so far. When a frame is no longer used its
    buffer is reused, because fresh memory costs more than the bytes written to it. `max_frame` is in bytes; `limit` can
    be changed later. `kept` is the largest buffer that is reused. Without `trusting`, a large frame always starts
    small, because a server has many peers.
    """

    def __init__(self, max_frame: int, kept: int = LARGEST_KEPT, *, trusting: bool = True) -> None:
        self.limit = max_frame
        self._kept = kept
        self._trusting = trusting
        self._scratch = bytearray(SCRATCH)
        self._start = 0  # start of bytes not yet split, in the scratch buffer
        self._end = 0
        self._large: bytearray | None = None  # of the frame being filled, if it has its own buffer
        self._size = 0  # size of that frame
        self._filled = 0
        self._largest = FIRST  # of the frames received completely
        self._used: deque[bytearray] = deque()  # buffers of returned frames, the oldest first

    def buffer(self) -> memoryview:
        """Return where the next bytes have to be written; never empty."""
        if self._large is not None:
            if self._filled == len(self._large):
                self._grow(self._large)
            return memoryview(self._large)[self._filled : self._size]
        return memoryview(self._scratch)[self._end :]

    def received(self, n: int) -> list[memoryview]:
        """Process `n` bytes written into the last `buffer()`; return the completed frames, without their size. A frame
        is valid as long as it is referenced. Raises DecodeError for an impossible size."""
        if self._large is not None:
            self._filled += n
            if self._filled < self._size:
                return []
            return [self._whole(self._large)]
        self._end = end = self._end + n
        frames: list[memoryview] = []
        view = memoryview(self._scratch)
        while end - self._start >= 4:
            begin = self._start + 4
            (size,) = _SIZE.unpack_from(view, self._start)
            if not 0 <= size <= self.limit:
                raise DecodeError(diagnose(bytes(view[self._start : self._start + 16]), self.limit))
            have = end - begin
            if have >= size:
                self._start = begin + size
                frames.append(memoryview(bytes(view[begin : self._start])))
                continue
            if size + 4 > SCRATCH:
                self._large = self._room(size)
                self._large[:have] = view[begin:end]
                self._size, self._filled = size, have
                self._start = self._end = 0
                return frames
            break
        if self._start == end:
            self._start = self._end = 0
        else:
            self._compact()
        return frames

    def _whole(self, large: bytearray) -> memoryview:
        """Return the complete frame; its buffer is kept for another one."""
        self._large = None
        if self._trusting:
            self._largest = max(self._largest, min(self._size, self._kept))
        if len(large) <= self._kept:
            self._used.append(large)
            if len(self._used) > (KEPT + 1 if sum(map(len, self._used)) <= MORE else KEPT):
                self._used.popleft()
        return memoryview(large)[: self._size]

    def _grow(self, large: bytearray) -> None:
        """Quadruple a full buffer, up to the size of the whole frame."""
        wanted = min(4 * len(large), roomy(self._size))
        try:
            large *= -(-wanted // len(large))  # repeats its content, because zeros would need additional memory
        except BufferError:  # the transport still has a view of it
            self._large = _fresh(wanted)
            self._large[: self._filled] = large
        else:
            del large[wanted:]

    def _room(self, size: int) -> bytearray:
        """Return a buffer for the beginning of a frame; for all of it if a free one is large enough."""
        found: bytearray | None = None
        for _ in range(len(self._used)):
            held = self._used.popleft()
            if not _let_go(held):
                self._used.append(held)
            elif found is None and size <= len(held) <= 4 * size:
                found = held
        return _fresh(min(roomy(size), roomy(self._largest))) if found is None else found

    @property
    def missing(self) -> int:
        """Missing bytes of the incomplete large frame; 0 if there is none."""
        return 0 if self._large is None else self._size - self._filled

    @property
    def filling(self) -> int:
        """Bytes taken by the incomplete large frame; 0 if there is none."""
        return 0 if self._large is None else len(self._large)

    def _compact(self) -> None:
        if self._start and SCRATCH - self._end < SCRATCH // 2:
            rest = bytes(memoryview(self._scratch)[self._start : self._end])
            self._scratch[: len(rest)] = rest
            self._start, self._end = 0, len(rest)

    @property
    def partial(self) -> bool:
        """Whether the stream is in the middle of a frame."""
        return self._large is not None or self._end > self._start


def roomy(size: int) -> int:
    """Allow the next frame to be a little larger."""
    return size + size // 8


def _fresh(size: int) -> bytearray:
    """Return a buffer with a spare byte, so that `_let_go` does not have to move it."""
    room = bytearray(size + 1)
    room.pop()
    return room


def _let_go(held: bytearray) -> bool:
    """Whether no view of it is left: a bytearray with views cannot be resized."""
    try:
        held.append(0)
    except BufferError:
        return False
    held.pop()
    return True


def diagnose(head: bytes, limit: int) -> str:
    """Return what the first bytes of an impossible frame show about the peer."""
    if head.startswith(b"HTTP"):
        return "this port uses HTTP, not Kafka: check the port number"
    if head[:1] in (b"\x15", b"\x16") and head[1:2] == b"\x03":
        return "this port uses TLS, but kcli used plaintext: use security.protocol=SSL or SASL_SSL"
    (size,) = _SIZE.unpack_from(head)
    if size < 0:
        return f"the peer announced a frame of {size} bytes: it does not speak Kafka"
    return f"the peer announced a frame of {size} bytes, over the limit of {limit}: it may not speak Kafka"


class Asked:
    """A request that waits for its response."""

    __slots__ = ("correlation_id", "request", "size", "version")

    def __init__(self, correlation_id: int, request: Request[Any], version: int, size: int) -> None:
        self.correlation_id = correlation_id
        self.request = request
        self.version = version
        self.size = size  # of its frame, in bytes


class ClientSession:
    """The client's side of one connection."""

    def __init__(self, client_id: str | None) -> None:
        self._client_id = client_id
        self._headers: dict[tuple[type[Request[Any]], int], bytes] = {}  # what follows the correlation id
        self._answers: dict[tuple[type[Request[Any]], int], tuple[type[Response], int]] = {}
        """The response's decoder, and where the body begins if the header has no tags."""
        self._next_id = 0
        self.asked: deque[Asked] = deque()

    @property
    def answered(self) -> int:
        """Return how many requests were answered, or had no response to wait for; restarts with the ids."""
        return self._next_id - len(self.asked)

    def send(self, request: Request[Any], version: int, *, answered: bool = True) -> list[Buffer]:
        """Return the frame of `request` at `version`, as buffers to be written one after the other. `answered=False`
        for a request without a response (acks=0). Raises EncodeError, and then nothing changed."""
        correlation_id = self._next_id
        kind = type(request)
        rest = self._headers.get((kind, version))
        if rest is None:
            rest = encode_request_header(kind, version, correlation_id, self._client_id)[8:]
            self._headers[kind, version] = rest
        frame = request.frame(version, correlation_id, rest)
        if frame is not None:
            parts: list[Buffer] = [frame]
            size = len(frame)
        else:
            body = request.encode(version)
            size = _BEGINNING.size + len(rest) + sum(map(len, body))
            parts = [_BEGINNING.pack(size - _SIZE.size, kind.api_key, version, correlation_id) + rest, *body]
        self._next_id = 0 if correlation_id == MAX_ID else correlation_id + 1
        if answered:
            self.asked.append(Asked(correlation_id, request, version, size))
        return parts

    def receive(self, frame: Buffer) -> tuple[Asked, Response]:
        """Return the response in `frame`, and its request, which is always the oldest. Raises DecodeError if it matches
        no open request or cannot be decoded; the connection is then lost."""
        if not self.asked:
            raise DecodeError("the broker sent an answer to no request")
        size = len(frame)
        (correlation_id,) = _SIZE.unpack_from(frame) if size >= 4 else (None,)
        asked = self.asked[0]
        if correlation_id != asked.correlation_id:
            raise DecodeError(f"the answer is for request {correlation_id}, expected {asked.correlation_id}")
        kind = type(asked.request)
        if size > LARGEST_PLAIN and kind.api_key not in WITH_RECORDS:
            name = api_name(kind.api_key)
            raise DecodeError(f"an answer of {size} bytes to {name}; the most without records is {LARGEST_PLAIN}")
        version = asked.version
        known_as = self._answers.get((kind, version))
        if known_as is None:
            known_as = self._answers[kind, version] = kind.response(), 4 + response_header_version(kind, version)
        response, start = known_as
        if start == 5 and (size < 5 or frame[4]):
            start = skip_tags(frame, 4)
        body = memoryview(frame)[start:]
        decode = response.decode
        answer = _greeted(response, version, body) if kind.api_key == API_VERSIONS else decode(version, body)
        self.asked.popleft()
        return asked, answer


def _greeted(response: type[Response], version: int, body: memoryview) -> Response:
    """Decode a response to ApiVersions. For UNSUPPORTED_VERSION only the code is read, because the body may have any
    form."""
    if len(body) >= 2 and version and bytes(body[:2]) == b"\x00\x23":
        return _refused(response, memoryview(b"\x00\x23\x00\x00\x00\x00") if len(body) < 6 else body)
    if len(body) <= LARGEST_KNOWN:
        return _decoded(response.decode, version, bytes(body))
    return response.decode(version, body)


@lru_cache(8)
def _decoded(decode: Callable[[int, Buffer], Response], version: int, body: bytes) -> Response:
    """Decode a response to ApiVersions, cached because the brokers of a cluster send the same to each connection."""
    return decode(version, body)


def _refused(response: type[Response], body: memoryview) -> Response:
    """Decode a rejected ApiVersions: a v0 body if there is one, else only its error code."""
    try:
        return response.decode(0, body)
    except DecodeError:
        return response(error_code=35)  # type: ignore[call-arg]


class Received:
    """A request as seen by the server role. `request` is None for an API or version that is not declared here."""

    __slots__ = ("api_key", "client_id", "correlation_id", "request", "version")

    def __init__(
        self, api_key: int, version: int, correlation_id: int, client_id: str | None, request: Request[Any] | None
    ) -> None:
        self.api_key = api_key
        self.version = version
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.request = request


class ServerSession:
    """The server's side of one connection."""

    def receive(self, frame: Buffer) -> Received:
        """Return the request in `frame`. Raises DecodeError for invalid bytes."""
        view = memoryview(frame)
        if len(view) < _REQUEST_HEADER.size:
            raise DecodeError(f"a request header needs {_REQUEST_HEADER.size} bytes, but the frame has {len(view)}")
        api_key, version, correlation_id, size = _REQUEST_HEADER.unpack_from(view)
        kind = request_type(api_key)
        at = _REQUEST_HEADER.size
        client_id: str | None = None
        if size >= 0:
            if at + size > len(view):
                raise DecodeError("the client id is longer than the frame")
            client_id = bytes(view[at : at + size]).decode("utf-8", "replace")
            at += size
        if kind is None or version not in kind.versions:
            return Received(api_key, version, correlation_id, client_id, None)
        if version in kind.flexible:
            at = skip_tags(view, at)
        return Received(api_key, version, correlation_id, client_id, kind.decode(version, view[at:]))

    def respond(self, to: Received, response: Response, version: int | None = None) -> list[Buffer]:
        """Return the frame of a response. `version` overrides the request's (a rejected ApiVersions is answered
        at v0)."""
        version = to.version if version is None else version
        kind = request_type(to.api_key)
        header = to.correlation_id.to_bytes(4, "big", signed=True)
        if kind is not None and response_header_version(kind, version):
            header += b"\0"
        body = response.encode(version)
        return [_SIZE.pack(len(header) + sum(len(part) for part in body)) + header, *body]


def encode_request_header(kind: type[Message], version: int, correlation_id: int, client_id: str | None) -> bytes:
    """Return request header v1, or v2 for a flexible version, in which the client id still has an int16 length."""
    name = b"" if client_id is None else client_id.encode()
    size = -1 if client_id is None else len(name)
    key: int = kind.api_key  # type: ignore[attr-defined]
    fixed = _REQUEST_HEADER.pack(key, version, correlation_id, size)
    return fixed + name + (b"\0" if version in kind.flexible else b"")


def response_header_version(kind: type[Request[Any]], version: int) -> int:
    """Return 1 for a flexible version, except for ApiVersions: its response always has header v0, so that a client can
    read it before it knows the broker's versions (KIP-511)."""
    return 0 if kind.api_key == API_VERSIONS else int(version in kind.flexible)


def skip_tags(frame: Buffer, at: int) -> int:
    """Return where the tagged fields that start at `at` end. Raises DecodeError."""
    try:
        count, at = uvarint(frame, at)
        if count > MOST_TAGS:
            raise DecodeError(f"a header with {count} tagged fields; the most is {MOST_TAGS}")
        for _ in range(count):
            _, at = uvarint(frame, at)
            size, at = uvarint(frame, at)
            at += size
            if at > len(frame):
                raise DecodeError("a tagged field of the header is longer than the frame")
    except IndexError as broken:
        raise DecodeError("the header ends too early") from broken
    return at


def describe(asked: Asked) -> str:
    """Return `Fetch v16 #12`, for error messages and traces."""
    return f"{api_name(type(asked.request).api_key)} v{asked.version} #{asked.correlation_id}"
