"""The session: frames, headers and correlation ids, without any I/O. Client role and server role.

A frame is an int32 size and that many bytes (B1). A size is judged before anything is allocated. Answers carry no API
key: the client role remembers what it asked, in order (B3, B4). A wrong correlation id ends the session, it is never
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
FIRST = 4 * SCRATCH  # of a large frame, however much was announced, until one as large came whole
KEPT = 2  # buffers besides the one being filled: one being used, one waiting
MORE = 8 * 1024 * 1024  # bytes of all of them up to which a third is kept, for the frame that comes next
LARGEST_KEPT = 16 * 1024 * 1024
MAX_ID = 0x7FFFFFFF
MOST_TAGS = 1000  # of a header; Kafka has one
LARGEST_PLAIN = 32 * 1024 * 1024
"""Bytes of an answer without records: the metadata of some 700,000 partitions. Each becomes an object, which takes
twenty times the memory, so here more than that is no answer of a cluster."""
WITH_RECORDS = (1, 78)
"""Fetch, ShareFetch."""
LARGEST_KNOWN = 4096  # bytes of an answer to ApiVersions that is remembered; Kafka's has some 700
_SIZE = Layout(">i")
_REQUEST_HEADER = Layout(">hhih")
_BEGINNING = Layout(">ihhi")  # the size, and the header as far as the correlation id


class FrameReader:
    """Cuts a byte stream into frames. The transport writes into `buffer()` and then says `received(n)`.

    Small frames pass through one scratch buffer; a large frame gets a buffer of its own, into which the transport
    writes directly. That begins small and grows with what has arrived: to announce costs the peer nothing, so it
    costs us nothing either, up to the largest frame that it has sent whole. Once the frame has no user any more its
    buffer is used again: fresh memory costs more than the bytes that go into it. `max_frame` is in bytes; `limit` can
    be changed later. `kept` is the largest buffer that is used again. Without `trusting` a large frame begins small
    whatever came before: a server has many peers.
    """

    def __init__(self, max_frame: int, kept: int = LARGEST_KEPT, *, trusting: bool = True) -> None:
        self.limit = max_frame
        self._kept = kept
        self._trusting = trusting
        self._scratch = bytearray(SCRATCH)
        self._start = 0  # of bytes not yet cut, in the scratch
        self._end = 0
        self._large: bytearray | None = None  # of the frame being filled, when it has a buffer of its own
        self._size = 0  # that frame's
        self._filled = 0
        self._largest = FIRST  # of the frames that came whole
        self._used: deque[bytearray] = deque()  # buffers of frames handed out, the oldest first

    def buffer(self) -> memoryview:
        """Where the next bytes go; never empty."""
        if self._large is not None:
            if self._filled == len(self._large):
                self._grow(self._large)
            return memoryview(self._large)[self._filled : self._size]
        return memoryview(self._scratch)[self._end :]

    def received(self, n: int) -> list[memoryview]:
        """Take note of `n` bytes written into the last `buffer()`; the frames they completed, without their size.
        A frame is valid for as long as it is referenced. Raises DecodeError for a size that cannot be."""
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
        """The frame, which is complete; its buffer is kept for another one."""
        self._large = None
        if self._trusting:
            self._largest = max(self._largest, min(self._size, self._kept))
        if len(large) <= self._kept:
            self._used.append(large)
            if len(self._used) > (KEPT + 1 if sum(map(len, self._used)) <= MORE else KEPT):
                self._used.popleft()
        return memoryview(large)[: self._size]

    def _grow(self, large: bytearray) -> None:
        """Four times as large, the whole frame at most: it is full, and more was announced."""
        wanted = min(4 * len(large), roomy(self._size))
        try:
            large *= -(-wanted // len(large))  # what it has, again and again: zeros would be memory of their own
        except BufferError:  # the transport still has a view of it
            self._large = _fresh(wanted)
            self._large[: self._filled] = large
        else:
            del large[wanted:]

    def _room(self, size: int) -> bytearray:
        """A buffer for the beginning of a frame; for all of it where a free one fits."""
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
        """Bytes that are still to come of the large frame which is not complete; 0 for none."""
        return 0 if self._large is None else self._size - self._filled

    @property
    def filling(self) -> int:
        """Bytes that the large frame takes which is not complete; 0 for none."""
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
    """The next frame may be a little larger."""
    return size + size // 8


def _fresh(size: int) -> bytearray:
    """A buffer with a byte to spare, so that `_let_go` does not have to move it."""
    room = bytearray(size + 1)
    room.pop()
    return room


def _let_go(held: bytearray) -> bool:
    """Whether no view of it is left: a bytearray with views refuses to change its size."""
    try:
        held.append(0)
    except BufferError:
        return False
    held.pop()
    return True


def diagnose(head: bytes, limit: int) -> str:
    """What the first bytes of an impossible frame say about the peer (B1)."""
    if head.startswith(b"HTTP"):
        return "this port speaks HTTP, not Kafka: check the port number"
    if head[:1] in (b"\x15", b"\x16") and head[1:2] == b"\x03":
        return "this port speaks TLS, and kcli spoke plaintext: use security.protocol=SSL or SASL_SSL"
    (size,) = _SIZE.unpack_from(head)
    if size < 0:
        return f"the peer announced a frame of {size} bytes: it does not speak Kafka"
    return f"the peer announced a frame of {size} bytes, over the limit of {limit}: it may not speak Kafka"


class Asked:
    """A request that waits for its answer."""

    __slots__ = ("correlation_id", "request", "size", "version")

    def __init__(self, correlation_id: int, request: Request[Any], version: int, size: int) -> None:
        self.correlation_id = correlation_id
        self.request = request
        self.version = version
        self.size = size  # of its frame, in bytes


class ClientSession:
    """The asking side of one connection."""

    def __init__(self, client_id: str | None) -> None:
        self._client_id = client_id
        self._headers: dict[tuple[type[Request[Any]], int], bytes] = {}  # what follows the correlation id
        self._answers: dict[tuple[type[Request[Any]], int], tuple[type[Response], int]] = {}
        """What answers it, and where the body begins if the header has no tags."""
        self._next_id = 0
        self.asked: deque[Asked] = deque()

    @property
    def answered(self) -> int:
        """How many requests were answered, or had no answer to come; it starts anew with the ids."""
        return self._next_id - len(self.asked)

    def send(self, request: Request[Any], version: int, *, answered: bool = True) -> list[Buffer]:
        """The frame of `request` at `version`, as buffers to be written one after the other.
        `answered=False` for a request that has no answer (acks=0). Raises EncodeError, and then nothing changed."""
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
        """The answer in `frame`, and what it answers: always the oldest question (B4).
        Raises DecodeError when it answers no open question or is not decodable; the connection is then lost."""
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
    """An answer to ApiVersions. UNSUPPORTED_VERSION: the body may have any shape, only the code is read (B9)."""
    if len(body) >= 2 and version and bytes(body[:2]) == b"\x00\x23":
        return _refused(response, memoryview(b"\x00\x23\x00\x00\x00\x00") if len(body) < 6 else body)
    if len(body) <= LARGEST_KNOWN:
        return _decoded(response.decode, version, bytes(body))
    return response.decode(version, body)


@lru_cache(8)
def _decoded(decode: Callable[[int, Buffer], Response], version: int, body: bytes) -> Response:
    """An answer to ApiVersions: the brokers of a cluster say the same to each connection, and it is only read."""
    return decode(version, body)


def _refused(response: type[Response], body: memoryview) -> Response:
    """A refused ApiVersions: a v0 body where there is one, else only its error code."""
    try:
        return response.decode(0, body)
    except DecodeError:
        return response(error_code=35)  # type: ignore[call-arg]


class Received:
    """A request as the server role sees it. `request` is None for an API or version that is not declared here."""

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
    """The answering side of one connection."""

    def receive(self, frame: Buffer) -> Received:
        """The request in `frame`. Raises DecodeError for bytes that are not one."""
        view = memoryview(frame)
        if len(view) < _REQUEST_HEADER.size:
            raise DecodeError(f"a request header wants {_REQUEST_HEADER.size} bytes, the frame has {len(view)}")
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
        """The frame of an answer. `version` overrides the request's (a refused ApiVersions is answered at v0)."""
        version = to.version if version is None else version
        kind = request_type(to.api_key)
        header = to.correlation_id.to_bytes(4, "big", signed=True)
        if kind is not None and response_header_version(kind, version):
            header += b"\0"
        body = response.encode(version)
        return [_SIZE.pack(len(header) + sum(len(part) for part in body)) + header, *body]


def encode_request_header(kind: type[Message], version: int, correlation_id: int, client_id: str | None) -> bytes:
    """Request header v1, or v2 for a flexible version. The client id keeps its int16 length even there (B2)."""
    name = b"" if client_id is None else client_id.encode()
    size = -1 if client_id is None else len(name)
    key: int = kind.api_key  # type: ignore[attr-defined]
    fixed = _REQUEST_HEADER.pack(key, version, correlation_id, size)
    return fixed + name + (b"\0" if version in kind.flexible else b"")


def response_header_version(kind: type[Request[Any]], version: int) -> int:
    """1 for a flexible version, except ApiVersions: its answer always has header v0, so that a client that does not
    know what the broker speaks can read it (KIP-511)."""
    return 0 if kind.api_key == API_VERSIONS else int(version in kind.flexible)


def skip_tags(frame: Buffer, at: int) -> int:
    """Where the tagged fields that start at `at` end. Raises DecodeError."""
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
    """`Fetch v16 #12`, for error messages and traces."""
    return f"{api_name(type(asked.request).api_key)} v{asked.version} #{asked.correlation_id}"
