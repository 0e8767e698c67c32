"""The codecs of a batch, imported on first use. One codec object per thread, because sharing one crashes.

Decompression is streamed and stops at a limit, so that a bomb never costs more than the limit. Output above 64 MiB must
also come from a plausible number of bytes; data that compresses further is not compressed.
"""

from __future__ import annotations

from threading import local

from kcli.errors import DecodeError, EncodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.proto.buffer import Buffer

XERIAL = b"\x82SNAPPY\x00"
XERIAL_HEADER = XERIAL + b"\x00\x00\x00\x01\x00\x00\x00\x01"
XERIAL_BLOCK = 32 * 1024
STEP = 64 * 1024
"""Output requested at a time: larger allocations, which malloc does not keep in its heap, cost three times as much in
fresh pages."""
PIECE = 16 * 1024
"""Input given to a stream at first, and four times as much each further time, because it may end soon."""
MOST_PARTS = 10_000
"""gzip members, or lz4 frames. Writers create one."""
UNSUSPECTED = 64 * 1024 * 1024
RATIO = 1024
"""Real records compress by at most 100 to 1; gzip's own limit is 1032, zstd reaches 32 700 for zeros."""

_mine = local()


class TooLarge(DecodeError):
    """The data exceeds the limit."""


def compress(codec: str, data: Buffer, level: int | None = None) -> Buffer:
    """Return `data` compressed like in Kafka's own clients. `level` None is the codec's default; snappy has none.
    Raises EncodeError for a level that the codec does not support."""
    try:
        return _COMPRESS[codec](data, level)
    except (ValueError, OverflowError, TypeError) as error:
        raise EncodeError(f"{codec} at level {level}: {error}") from None


def decompress(codec: str, data: Buffer, bound: int) -> Buffer:
    """Return `data` decompressed; works in any thread. Raises DecodeError if it is broken, TooLarge above `bound`
    bytes."""
    if codec not in _DECOMPRESS:
        raise DecodeError(f"{codec} is unknown")
    return _DECOMPRESS[codec](data, min(bound, believable(len(data))))


def believable(packed: int) -> int:
    """Return the largest plausible size of so many compressed bytes."""
    return max(UNSUSPECTED, RATIO * packed)


def _too_large(bound: int) -> DecodeError:
    return TooLarge(f"its records are more than {bound} bytes when decompressed (max.decompressed.bytes)")


def _gzip(data: Buffer, level: int | None) -> Buffer:
    if level is None:
        try:
            from isal import isal_zlib
        except ImportError:
            level = 1
        else:
            return isal_zlib.compress(data, 1, 31)
    import zlib

    if not -1 <= level <= 9:
        raise ValueError("gzip has levels 1 to 9")
    return zlib.compress(data, level, 31)


def _snappy(data: Buffer, level: int | None) -> Buffer:
    from cramjam import snappy

    out = bytearray(XERIAL_HEADER)
    view = memoryview(data)
    for start in range(0, len(view), XERIAL_BLOCK):
        block = snappy.compress_raw(view[start : start + XERIAL_BLOCK])
        out += len(block).to_bytes(4, "big")
        out += block
    return out


def _lz4(data: Buffer, level: int | None) -> Buffer:
    """Independent 64 KiB blocks, because Java rejects linked ones."""
    from lz4 import frame

    return frame.compress(  # type: ignore[no-any-return]
        data, compression_level=level or 0, block_size=frame.BLOCKSIZE_MAX64KB, block_linked=False, store_size=False
    )


def _zstd(data: Buffer, level: int | None) -> Buffer:
    from zstandard import ZstdCompressor

    level = 1 if level is None else level
    known = getattr(_mine, "compressors", None)
    if known is None:
        known = _mine.compressors = {}
    if level not in known:
        known[level] = ZstdCompressor(level)
    return known[level].compress(data)  # type: ignore[no-any-return]


def _ungzip(data: Buffer, bound: int) -> Buffer:
    library: Any
    try:
        from isal import isal_zlib

        library = isal_zlib
    except ImportError:
        import zlib

        library = zlib
    try:
        return _inflate(library, data, bound)
    except library.error as error:
        raise DecodeError(f"gzip: {error}") from None


def _inflate(library: Any, data: Buffer, bound: int) -> bytearray:
    """Decompress every member of a gzip stream in pieces; what follows a member is copied at its end."""
    out = bytearray()
    view = memoryview(data)
    at = members = 0
    while at < len(view):
        members = _counted("gzip", members)
        member = library.decompressobj(31)
        size = PIECE
        while not member.eof:
            piece: Any = member.unconsumed_tail
            if not piece:
                piece = view[at : at + size]
                at, size = at + len(piece), min(4 * size, STEP)
            plain = member.decompress(piece, min(STEP, bound + 1 - len(out)))
            out += plain
            if len(out) > bound:
                raise _too_large(bound)
            if not plain and not len(piece) and not member.eof:
                raise DecodeError("gzip: cut off")
        at -= len(member.unused_data)
    return out


def _counted(codec: str, parts: int) -> int:
    """Count a part. Raises DecodeError for more than any writer creates, because each costs time, even without data."""
    if parts == MOST_PARTS:
        raise DecodeError(f"{codec}: more than {MOST_PARTS} streams in one batch")
    return parts + 1


def _unlz4(data: Buffer, bound: int) -> Buffer:
    from lz4.frame import LZ4FrameDecompressor

    out = bytearray()
    view = memoryview(data)
    at = frames = 0
    try:
        while at < len(view):
            frames = _counted("lz4", frames)
            frame = LZ4FrameDecompressor()
            size = PIECE
            while not frame.eof:
                piece: Any = b""
                if frame.needs_input:
                    piece = view[at : at + size]
                    at, size = at + len(piece), min(4 * size, STEP)
                plain = frame.decompress(piece, min(STEP, bound + 1 - len(out)))
                out += plain
                if len(out) > bound:
                    raise _too_large(bound)
                # an empty frame needs no input; one that filled its output may need more of the available input
                if not plain and at >= len(view) and frame.needs_input and not frame.eof:
                    raise DecodeError("lz4: cut off")
            at -= len(frame.unused_data or b"")
    except (RuntimeError, ValueError, EOFError) as error:
        raise DecodeError(f"lz4: {error}") from None
    return out


def _unzstd(data: Buffer, bound: int) -> Buffer:
    from zstandard import ZstdDecompressor, ZstdError

    if not hasattr(_mine, "decompressor"):
        _mine.decompressor = ZstdDecompressor(max_window_size=1 << 27)
    out = bytearray()
    try:
        with _mine.decompressor.stream_reader(data, read_across_frames=True, closefd=False) as reader:
            while plain := reader.read(min(STEP, bound + 1 - len(out))):
                out += plain
                if len(out) > bound:
                    raise _too_large(bound)
    except ZstdError as error:
        raise DecodeError(f"zstd: {error}") from None
    return out


def _unsnappy(data: Buffer, bound: int) -> Buffer:
    """Xerial's framing, whose version bytes differ between writers and have no meaning, or one raw block."""
    view = memoryview(data)
    if bytes(view[:8]) != XERIAL:
        return _unsnappy_block(view, bound)
    out = bytearray()
    at = 16
    while at < len(view):
        size = int.from_bytes(view[at : at + 4], "big")
        at += 4
        if size > len(view) - at:
            raise DecodeError("snappy: cut off")
        out += _unsnappy_block(view[at : at + size], bound, len(out))
        at += size
    return out


def _unsnappy_block(block: memoryview, bound: int, before: int = 0) -> bytearray:
    from cramjam import DecompressionError, snappy

    size = shift = 0
    for byte in block[:5]:
        size |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    if before + size > bound:
        raise _too_large(bound)
    if size > 32 * len(block) + 64:  # no snappy element expands 3 bytes to more than 64
        raise DecodeError(f"snappy: {len(block)} bytes cannot decompress to {size}")
    plain = bytearray(size)  # the codec touches its pages, while other threads run
    try:
        made = snappy.decompress_raw_into(block, plain)
    except DecompressionError as error:
        raise DecodeError(f"snappy: {error}") from None
    if made != size:
        raise DecodeError(f"snappy: {made} bytes, but its header says {size}")
    return plain


_COMPRESS: dict[str, Callable[[Buffer, int | None], Buffer]] = {
    "gzip": _gzip,
    "snappy": _snappy,
    "lz4": _lz4,
    "zstd": _zstd,
}
_DECOMPRESS: dict[str, Callable[[Buffer, int], Buffer]] = {
    "gzip": _ungzip,
    "snappy": _unsnappy,
    "lz4": _unlz4,
    "zstd": _unzstd,
}
