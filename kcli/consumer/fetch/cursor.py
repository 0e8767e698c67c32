"""The state of an owned partition: its position, its fetched chunks, and whether it may be fetched now.

No I/O: time is an argument. A cursor has two offsets: `position` is the next to return, `fetch_at` the next to fetch;
the buffered chunks lie between them. `pieces` come before the chunks: they were taken out of a chunk and given back
because the program did not use them.
"""

from __future__ import annotations

from collections import deque

from kcli.backoff import after
from kcli.grammar.bound import Bound
from kcli.model import OffsetAndMetadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.consumer.fetch.chunk import Chunk, Fetched
    from kcli.errors import KcliError
    from kcli.model import TopicPartition
    from kcli.proto.batch import Batch

RESOLVING, VALIDATING, READY, FAILED = "resolving", "validating", "ready", "failed"
FIRST_PAUSE, LAST_PAUSE = 0.1, 1.0


class Cursor:
    """`generation` changes with everything that invalidates responses in flight: seek, reset, truncation."""

    __slots__ = (
        "at",
        "attempts",
        "busy",
        "chunks",
        "end",
        "epoch",
        "era",
        "error",
        "fetch_at",
        "fetch_epoch",
        "fruitless",
        "generation",
        "leader_epoch",
        "max_bytes",
        "paused",
        "paused_alone",
        "pending_assign",
        "pending_revoke",
        "pieces",
        "position",
        "replica",
        "replica_until",
        "retry_at",
        "stable",
        "start",
        "state",
        "times",
        "topic_id",
        "trouble",
        "trouble_since",
        "watermark",
    )

    def __init__(self, at: TopicPartition, start: Bound, max_bytes: int) -> None:
        self.at = at
        self.start = start
        self.state = RESOLVING
        self.position = -1
        self.epoch = -1  # leader epoch of the last record before `position`
        self.fetch_at = -1
        self.fetch_epoch = -1  # leader epoch of the last record before `fetch_at`: Fetch's last_fetched_epoch
        self.leader_epoch = -1  # from the metadata, when last validated
        self.topic_id = bytes(16)
        self.stable = self.watermark = -1  # last stable offset and high watermark of the last response
        self.end: int | None = None
        self.times: tuple[int, int] | None = None  # [start, stop) of the timestamps to return
        self.paused = False  # individually or by topic
        self.paused_alone = False
        self.pending_revoke = False
        self.pending_assign = False
        self.generation = 0
        self.era = 0  # counts the program's seeks
        self.pieces: deque[Piece] = deque()
        self.chunks: deque[Chunk] = deque()
        self.error: KcliError | None = None  # to be returned after the chunks
        self.busy = False
        self.max_bytes = max_bytes
        self.replica = -1
        self.replica_until = 0.0
        self.retry_at = 0.0
        self.attempts = 0
        self.fruitless = 0  # consecutive responses without a batch past `fetch_at`
        self.trouble = ""  # error of the last attempt
        self.trouble_since: float | None = None
        if start.kind == "offset":
            self.seek(start)

    # -- position ---------------------------------------------------------------------------------------------------

    def seek(self, to: Bound, epoch: int = -1) -> None:
        """Move to another position. Chunks and responses in flight are discarded; a pause is kept."""
        self._drop()
        self.start = to
        self.error = None
        self.succeeded()
        self.fruitless = 0
        if to.kind == "offset":
            self.position = self.fetch_at = to.value
            self.epoch = self.fetch_epoch = epoch
            self.state = READY
        else:
            self.position = self.fetch_at = self.epoch = self.fetch_epoch = -1  # unknown until it is looked up
            self.state = RESOLVING

    def resolved(self, generation: int, offset: int, epoch: int = -1) -> bool:
        """Set the start that was looked up. A response older than a seek changes nothing."""
        if generation != self.generation or self.state != RESOLVING:
            return False
        self._drop()
        self.position = self.fetch_at = offset
        self.epoch = self.fetch_epoch = epoch
        self.state = READY
        self.succeeded()
        return True

    def validate(self, leader_epoch: int) -> None:
        """Note a new leader, and have it checked for the records already read; impossible without their leader
        epoch."""
        known, self.leader_epoch = self.leader_epoch, leader_epoch
        if leader_epoch != known:
            self.replica = -1
        if self.state == READY and leader_epoch > known >= 0 and self.fetch_epoch >= 0:
            self.state = VALIDATING

    def validated(self, generation: int, end: int, end_epoch: int) -> int | None:
        """Apply the response to OffsetForLeaderEpoch. Returns the offset where the log was truncated if records already
        returned are gone, else None. (-1, -1) means an unknown epoch: then `position` is the best known offset."""
        if generation != self.generation or self.state != VALIDATING:
            return None
        self.state = READY
        if end < 0 or end_epoch < 0:
            return self.position
        if end >= self.fetch_at:
            return None
        self.rewind()
        return end if end < self.position else None

    def rewind(self) -> None:
        """Discard what was not returned yet, and fetch it again."""
        self._drop()
        self.fetch_at, self.fetch_epoch = self.position, self.epoch

    def fail(self, error: KcliError) -> None:
        """Fail until a seek. The position is kept."""
        self.state = FAILED
        self.error = error
        self.trouble = str(error)

    def reset(self, to: Bound) -> None:
        """Look up a new position, because this one is no longer in the log; it is kept until then."""
        self._drop()
        self.start = to
        self.state = RESOLVING

    def _drop(self) -> None:
        """Discard fetched data and responses in flight."""
        self.generation += 1
        self.chunks.clear()
        self.pieces.clear()

    # -- fetching ---------------------------------------------------------------------------------------------------

    @property
    def fetchable(self) -> bool:
        """Whether the partition may be fetched. After its end was reached it is not, nor while a broken last batch has
        not been returned."""
        return (
            self.state == READY
            and not self.paused
            and not self.pending_revoke
            and not self.pending_assign
            and (self.end is None or self.fetch_at < self.end)
            and not (self.chunks and self.chunks[-1].broken is not None)
        )

    @property
    def buffered(self) -> int:
        """Number of bytes fetched and not returned."""
        return sum(chunk.size for chunk in self.chunks)

    @property
    def done(self) -> bool:
        """Whether the position has reached the end; the last record may be before it. A failed partition is done once
        its error was returned."""
        if self.state == FAILED:
            return self.error is None and not self.chunks and not self.pieces
        return self.state in (READY, VALIDATING) and self.end is not None and self.position >= self.end

    def take(self, chunk: Chunk, next_offset: int, epoch: int) -> None:
        """Add the data fetched at `fetch_at`."""
        self.chunks.append(chunk)
        self.fetch_at = next_offset
        self.fetch_epoch = epoch

    def advanced(self, next_offset: int, epoch: int) -> None:
        """Record that a part of the first chunk, up to `next_offset`, was returned."""
        self.position = next_offset
        if epoch >= 0:
            self.epoch = epoch

    def delivered(self, next_offset: int, epoch: int) -> None:
        """Record that the rest of the first chunk, up to `next_offset`, was returned."""
        self.chunks.popleft()
        self.advanced(next_offset, epoch)

    def give_back(self, piece: Piece) -> None:
        """Give back a piece that the program did not use, to be returned before all others. If the position has moved
        meanwhile (a reset, a truncated log), it is fetched again; after a seek it is discarded."""
        if piece.era != self.era:
            return
        if self.position != piece.stop:
            self.seek(Bound("offset", piece.start), piece.start_epoch)
            return
        self.pieces.appendleft(piece)
        self.position, self.epoch = piece.start, piece.start_epoch

    def take_back(self) -> Piece:
        """Return the first piece that was given back."""
        piece = self.pieces.popleft()
        self.position, self.epoch = piece.stop, piece.stop_epoch
        return piece

    @property
    def held(self) -> bool:
        """Whether nothing may be returned now, for example while paused."""
        return self.paused or self.pending_revoke or self.pending_assign

    @property
    def deliverable(self) -> bool:
        """Whether a poll has something to return."""
        if self.held or self.state in (RESOLVING, VALIDATING):
            return False
        return bool(self.pieces or self.chunks) or self.error is not None

    # -- errors -----------------------------------------------------------------------------------------------------

    def failed_once(self, now: float, why: object, factor: float | None = None, *, at_once: bool = False) -> None:
        """Note a temporary error: no attempt before `retry_at`. `factor` is as in `backoff.after`."""
        self.trouble = str(why)
        if self.trouble_since is None:
            self.trouble_since = now
        if at_once and self.attempts == 0:
            self.attempts = 1
            self.retry_at = 0.0
            return
        self.retry_at = now + after(self.attempts, FIRST_PAUSE, LAST_PAUSE, factor)
        self.attempts += 1

    def succeeded(self) -> None:
        self.attempts, self.retry_at, self.trouble_since, self.trouble = 0, 0.0, None, ""


class Piece:
    """A `Fetched` with its location: the offsets [start, stop), the leader epochs of the records before both, and its
    size. `era` is the cursor's, so that a piece from before a seek is recognized."""

    __slots__ = ("cursor", "decoded", "era", "fetched", "size", "start", "start_epoch", "stop", "stop_epoch")

    def __init__(self, cursor: Cursor, fetched: Fetched, start: int, start_epoch: int, size: int) -> None:
        self.cursor = cursor
        self.era = cursor.era
        self.fetched = fetched
        self.start, self.start_epoch = start, start_epoch
        self.stop, self.stop_epoch = cursor.position, cursor.epoch
        self.size = size
        self.decoded = False

    @property
    def at(self) -> TopicPartition:
        return self.cursor.at

    @property
    def following(self) -> OffsetAndMetadata:
        """The position after it."""
        return OffsetAndMetadata(self.stop, self.stop_epoch, "")

    def rest(self, batches: list[Batch], start: int, epoch: int) -> Piece:
        """Return the end of this piece, from the offset `start` on."""
        rest = Piece.__new__(Piece)
        for name in Piece.__slots__:
            setattr(rest, name, getattr(self, name))
        rest.start, rest.start_epoch, rest.fetched = start, epoch, self.fetched.changed(batches=batches)
        return rest
