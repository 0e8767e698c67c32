"""Decompresses batches before a poll returns them: small ones in place, large ones in a thread.

So decompression never delays the loop that sends heartbeats, and the thread works on the next piece while the user
processes the last one. Memory is limited to the returned piece and the next one. Messages in format v0 and v1 are read
a chunk at a time, also in the thread.
"""

from __future__ import annotations

import asyncio

from kcli.proto.batch import CorruptBatch
from kcli.tasks import DaemonThread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.consumer.fetch.chunk import Chunk
    from kcli.consumer.fetch.reader import Reader
    from kcli.model import TopicPartition
    from kcli.proto.batch import Batch
    from kcli.settings import ConsumerSettings

SMALL = 256 * 1024
"""Decompressed size up to which the loop's own thread decompresses a batch: less than a millisecond."""
SMALL_OLD = 4096
"""Size of a chunk of old messages that the loop's own thread reads; decompressed it may be a thousand times larger."""
AHEAD = 4 * 1024 * 1024
"""Decompressed bytes held by the user above which nothing is decompressed ahead."""


class Unpacking:
    """At most one thread, working on one piece of one chunk at a time."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._ratio = 1.0  # decompressed per compressed byte, of the last batch
        self._chunk: Chunk | None = None  # the thread's current chunk
        self._thread: DaemonThread | None = None
        self._work: asyncio.Future[tuple[int, float]] | None = None

    def ready(self, chunk: Chunk, batches: list[Batch], room: int) -> tuple[int, int]:
        """Return how many of the first batches can be returned, and their decompressed size: as many as fit into
        `room`, but at least one; none while the first is still compressed."""
        size = 0
        if chunk is self._chunk:
            return 0, 0
        for number, batch in enumerate(batches):
            if batch.compressed and batch.last_offset > chunk.tried and not self._at_once(chunk, batch):
                return number, size
            plain = batch.body_end - batch.body_start
            if number and size + plain > room:
                return number, size
            size += plain
        return len(batches), size

    def opened(self, chunk: Chunk, at: TopicPartition) -> bool:
        """Whether the batches of a chunk are known. Chunks of old messages are read by the thread, because their
        wrappers are decompressed and every message is checked."""
        if chunk is self._chunk:
            return False
        if chunk.batches is None and chunk.is_old and chunk.size > SMALL_OLD:
            self._start(chunk, _open, chunk, at, self._reader.settings)
            return False
        return True

    def is_large(self, chunk: Chunk, batch: Batch) -> bool:
        """Whether a batch should be decompressed in the thread, as far as can be estimated."""
        if not batch.compressed or batch.last_offset <= chunk.tried:
            return False
        return (batch.body_end - batch.body_start) * self._ratio > SMALL

    def _at_once(self, chunk: Chunk, batch: Batch) -> bool:
        """Decompress a small batch here. Returns False if it is large, or probably large."""
        if self.is_large(chunk, batch):
            return False
        packed = batch.body_end - batch.body_start
        try:
            done = batch.unpack(SMALL)
        except CorruptBatch:  # the reader gets the error
            chunk.tried = batch.last_offset
            return True
        self._ratio = (batch.body_end - batch.body_start if done else SMALL) / packed
        return done

    def begin(self, chunk: Chunk, batches: list[Batch], most: int) -> None:
        """Decompress the first batches in the thread, up to about `most` bytes, unless it is busy."""
        self._start(chunk, _unpack, batches, most)

    def _start(self, chunk: Chunk, work: Callable[..., tuple[int, float]], *arguments: Any) -> None:
        if self._chunk is not None:
            return
        if self._thread is None:
            self._thread = DaemonThread("kcli-unpack")
        self._chunk = chunk
        self._work = self._thread.do(work, *arguments)
        self._work.add_done_callback(self._done)

    def _done(self, work: asyncio.Future[tuple[int, float]]) -> None:
        chunk, self._chunk = self._chunk, None
        self._work = None
        if work.cancelled():
            return
        problem = work.exception()
        if problem is not None:
            self._reader.failure = self._reader.failure or problem
        elif chunk is not None:
            chunk.tried, self._ratio = work.result()
        self._reader.arrived.set()

    def close(self) -> None:
        """End the thread after its current piece, without waiting."""
        if self._work is not None:
            self._work.cancel()
        if self._thread is not None:
            self._thread.stop()
            self._thread = None


def _open(chunk: Chunk, at: TopicPartition, settings: ConsumerSettings) -> tuple[int, float]:
    chunk.open(at, settings)
    return chunk.tried, 1.0


def _unpack(batches: list[Batch], most: int) -> tuple[int, float]:
    """Return the last offset that was tried, and the decompressed size per compressed byte."""
    size, tried, ratio = 0, -1, 1.0
    for batch in batches:
        packed = batch.body_end - batch.body_start
        if batch.compressed:
            try:
                batch.unpack()
                ratio = (batch.body_end - batch.body_start) / packed
            except CorruptBatch:  # the reader gets the error
                ratio = 1.0
        tried = batch.last_offset
        size += batch.body_end - batch.body_start
        if size >= most:
            break
    return tried, ratio


def unpacked(batch: Batch, most: int | None = None) -> bool:
    """Decompress one batch, in any thread; returns False if it is larger than `most` bytes. The reader gets the error
    of a broken batch."""
    try:
        return batch.unpack(most)
    except CorruptBatch:
        return True
