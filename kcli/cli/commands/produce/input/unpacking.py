"""Input that is compressed: gzip and zstd, found by their first bytes, unpacked in pieces of bounded size.

`feed` takes what was read, `more` gives what that became until it wants to be fed again; at the end of the input `end`,
then `more` until it gives nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Unpacker(Protocol):
        """Compressed bytes in, plain bytes out. All methods raise ValueError for bytes that are damaged."""

        def feed(self, data: bytes) -> None: ...
        def more(self) -> bytes: ...
        def end(self) -> None: ...


GZIP, ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
PIECE = 256 * 1024  # bytes that are unpacked at once
_MARK = b"end of kcli input"


def may_be_packed(head: bytes) -> bool:
    """Whether these first bytes could be the begin of a magic number that is not complete yet."""
    return any(len(head) < len(magic) and magic.startswith(head) for magic in (GZIP, ZSTD))


def unpacker(head: bytes) -> Unpacker | None:
    """What unpacks an input that begins so; None for plain input."""
    if head.startswith(GZIP):
        return _Gzip()
    return _Zstd() if head.startswith(ZSTD) else None


class _Gzip:
    """One or more gzip members, one after the other, as `cat a.gz b.gz` makes them."""

    def __init__(self) -> None:
        from zlib import decompressobj

        self._open = decompressobj
        self._member = decompressobj(31)
        self._left = b""

    def feed(self, data: bytes) -> None:
        self._left += data

    def more(self) -> bytes:
        from zlib import error

        try:
            while self._left:
                if self._member.eof:
                    self._left = self._left.lstrip(b"\0")  # the padding of tapes
                    if not self._left:
                        break
                    self._member = self._open(31)
                out = self._member.decompress(self._left, PIECE)
                self._left = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
                if out:
                    return out
        except error as problem:
            raise ValueError(f"is damaged gzip ({problem})") from None
        return b"" if self._member.eof else self._member.decompress(b"", PIECE)

    def end(self) -> None:
        if not self._member.eof:
            raise ValueError("is truncated gzip")


class _Hungry(Exception):
    """The reader wants bytes that have not come yet."""


class _Zstd:
    """One or more zstd frames. A frame of ours behind the input shows whether the last one of it was complete."""

    def __init__(self) -> None:
        from zstandard import ZstdDecompressor, ZstdError

        self._error = ZstdError
        self._fed = b""
        self._ended = self._complete = False
        source: Any = self  # it has `read`, which is all that is called
        self._reader = ZstdDecompressor().stream_reader(source, read_size=PIECE, read_across_frames=True)
        self._room = bytearray(PIECE)

    def read(self, size: int) -> bytes:
        """For the reader of zstandard."""
        if not self._fed and not self._ended:
            raise _Hungry
        piece, self._fed = self._fed[:size], self._fed[size:]
        return piece

    def feed(self, data: bytes) -> None:
        self._fed += data

    def more(self) -> bytes:
        try:
            count = self._reader.readinto1(self._room)
        except _Hungry:
            return b""
        except self._error:
            raise ValueError("is truncated or damaged zstd") from None
        out = bytes(self._room[:count])
        if self._ended and out.endswith(_MARK) and not self._fed:
            self._complete = True
            return out.removesuffix(_MARK)
        if self._ended and not out and not self._complete:
            raise ValueError("is truncated zstd")
        return out

    def end(self) -> None:
        from zstandard import ZstdCompressor

        self._fed += ZstdCompressor().compress(_MARK)
        self._ended = True
