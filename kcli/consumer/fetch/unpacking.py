"""Compressed batches are decompressed before a poll returns them: small ones in place, large ones in a thread.

A codec never delays the loop that sends a member's heartbeats (B31), and the thread decompresses the next piece while
the user works on the last. Memory is bounded by plain bytes: the returned piece and the next one. Messages of v0 and v1
are read a chunk at a time, in the thread as well.
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
"""Plain bytes of a batch that is decompressed by the loop's own thread: less than a millisecond."""
SMALL_OLD = 4096
"""Bytes of a chunk of old messages that the loop's own thread reads; decompressed they may be a thousand times that."""
AHEAD = 4 * 1024 * 1024
"""Plain bytes in the user's hands above which nothing is decompressed ahead."""


class Unpacking:
    """One thread at most, and one piece of one chunk at a time."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._ratio = 1.0  # plain bytes of a compressed byte, of the last batch
        self._chunk: Chunk | None = None  # the thread has it
        self._thread: DaemonThread | None = None
        self._work: asyncio.Future[tuple[int, float]] | None = None

    def ready(self, chunk: Chunk, batches: list[Batch], room: int) -> tuple[int, int]:
        """How many of the first batches may be handed out, and their plain bytes: as many as `room` has place for, one
        at least, none while the first is not decompressed."""
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
        """Whether the batches of a chunk are known. A chunk of old messages is read by the thread: their wrappers are
        decompressed and every message is looked at."""
        if chunk is self._chunk:
            return False
        if chunk.batches is None and chunk.is_old and chunk.size > SMALL_OLD:
            self._start(chunk, _open, chunk, at, self._reader.settings)
            return False
        return True

    def is_large(self, chunk: Chunk, batch: Batch) -> bool:
        """Whether it is work for the thread, as far as one can tell."""
        if not batch.compressed or batch.last_offset <= chunk.tried:
            return False
        return (batch.body_end - batch.body_start) * self._ratio > SMALL

    def _at_once(self, chunk: Chunk, batch: Batch) -> bool:
        """Decompress a small batch here. False when it is large, or is likely to be."""
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
        """Decompress the first batches in the thread, up to about `most` bytes, unless it has something to do."""
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
    """The last offset that was tried, and how many plain bytes a compressed one made."""
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
    """Decompress one batch, in any thread; False if it is larger than `most` bytes. The reader of a broken batch gets
    the error."""
    try:
        return batch.unpack(most)
    except CorruptBatch:
        return True
