"""What a poll hands out: the partitions that waited longest first, a chunk of each or a piece of one that is large when
decompressed, cut to the position and the end."""

from __future__ import annotations

from kcli.consumer.fetch.unpacking import AHEAD, Unpacking
from kcli.proto import core
from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import NamedTuple

    from kcli.consumer.fetch.chunk import Chunk
    from kcli.consumer.fetch.cursor import Cursor
    from kcli.consumer.fetch.reader import Reader
    from kcli.consumer.group.group_bridge import Link
    from kcli.errors import KcliError
    from kcli.model import TopicPartition
    from kcli.proto.batch import Batch

    class Window(NamedTuple):
        """The batches that are left of a cursor's first chunk, and the position after all of them."""

        cursor: Cursor
        chunk: Chunk
        batches: list[Batch]
        following: int
else:
    from collections import namedtuple

    Window = namedtuple("Window", "cursor chunk batches following")


class Fetched(Value):
    """The records of one partition that a poll returns. `next_offset` is the position after them; `batches` may be
    empty if there were only markers or aborted records, or if there is only an `error`. Offsets are -1 if unknown.
    `skipped` are the batches that skip_corrupt skipped."""

    topic: str = ""
    partition: int = 0
    batches: list[Batch] = ()  # type: ignore[assignment]
    next_offset: int = -1
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    error: KcliError | None = None
    skipped: Sequence[KcliError] = ()


class Delivery:
    """Takes buffered chunks from the cursors, in turn."""

    def __init__(self, reader: Reader, link: Link) -> None:
        self._reader = reader
        self._link = link
        self._turn: list[TopicPartition] = []
        self._unpacking = Unpacking(reader)

    def hand_out(self, most: int, owned: Collection[TopicPartition] | None) -> list[Fetched]:
        """The first chunk of each that may be delivered, until `most` bytes are reached, decompressed; they go to the
        end of the queue. `owned` is what the group gives at this moment, None without one."""
        got: list[Fetched] = []
        served: dict[Cursor, int] = {}  # and the bytes that it no longer holds
        blocked: Window | None = None
        size = 0
        for cursor in self._deliverable(owned):
            if not cursor.chunks:
                got.append(self._error_of(cursor))
                served[cursor] = 0
                continue
            if got and size + cursor.chunks[0].size > most:
                break
            if not self._unpacking.opened(cursor.chunks[0], cursor.at):
                continue
            window = self._window_of(cursor)
            count, plain = self._ready(window, most - size)
            if count == 0 and window.batches:
                blocked = blocked or window
                continue
            size += plain
            held = cursor.buffered
            got.append(self._piece_of(window, count))
            served[cursor] = held - cursor.buffered
        if got:
            last = dict.fromkeys(cursor.at for cursor in served)
            self._turn = [at for at in self._turn if at not in last] + [*last]
            self._reader.moved(served)
        if blocked is None and size < AHEAD and self._reader.settings.decompress:
            blocked = self._next_blocked(owned)
        if blocked is not None and (not got or size < AHEAD):
            self._unpacking.begin(blocked.chunk, blocked.batches, most)
        return got

    def close(self) -> None:
        self._unpacking.close()

    def _deliverable(self, owned: Collection[TopicPartition] | None) -> Iterator[Cursor]:
        cursors = self._reader.cursors
        known = [at for at in self._turn if at in cursors]
        if len(known) != len(cursors):
            seen = set(known)
            known += [at for at in cursors if at not in seen]
        self._turn = known
        for at in known:
            if cursors[at].deliverable and (owned is None or at in owned):
                yield cursors[at]

    def _window_of(self, cursor: Cursor) -> Window:
        """What is left of the first chunk."""
        settings, chunk = self._reader.settings, cursor.chunks[0]
        chunk.open(cursor.at, settings)
        batches, following = chunk.window(
            cursor.position,
            cursor.end,
            committed=settings.isolation == "read_committed",
            control=settings.include_control,
        )
        return Window(cursor, chunk, batches, following)

    def _ready(self, window: Window, room: int) -> tuple[int, int]:
        """How many of the batches may be handed out now, and their bytes."""
        if not self._reader.settings.decompress or not core.any_compressed(window.batches):
            return len(window.batches), window.chunk.size
        return self._unpacking.ready(window.chunk, window.batches, room)

    def _next_blocked(self, owned: Collection[TopicPartition] | None) -> Window | None:
        """What the next poll would have to wait for: the thread may begin with it."""
        for cursor in self._deliverable(owned):
            if cursor.chunks:
                if not self._unpacking.opened(cursor.chunks[0], cursor.at):
                    return None
                window = self._window_of(cursor)
                large = window.batches and self._unpacking.is_large(window.chunk, window.batches[0])
                return window if large else None
        return None

    def _error_of(self, cursor: Cursor) -> Fetched:
        at = cursor.at
        error, cursor.error = cursor.error, None
        assert error is not None
        self._reader.fail_again(cursor, error)
        return Fetched(topic=at.topic, partition=at.partition, batches=[], next_offset=cursor.position, error=error)

    def _piece_of(self, window: Window, count: int) -> Fetched:
        """The first `count` batches; the chunk is done with the last of them."""
        cursor, chunk, batches, following = window
        if count < len(batches):
            batches = batches[:count]
            following = batches[-1].last_offset + 1
            cursor.advanced(following, batches[-1].leader_epoch)
            chunk.let_go(following)
            return self._fetched(cursor, chunk, batches, None, ())
        trouble = chunk.trouble
        cursor.delivered(following, -1 if trouble is not None else chunk.epoch)
        ended = cursor.end is not None and following >= cursor.end
        if trouble is not None and not ended:
            cursor.rewind()
            cursor.fail(trouble)
            cursor.error = None  # handed out right here
            self._reader.fail_again(cursor, trouble)
        else:
            trouble = None
            if ended and cursor.position < cursor.fetch_at:  # `stop_at` may move the end: then it is fetched again
                cursor.rewind()
        return self._fetched(cursor, chunk, batches, trouble, chunk.skipped)

    def _fetched(
        self, cursor: Cursor, chunk: Chunk, batches: list[Batch], error: KcliError | None, skipped: Sequence[KcliError]
    ) -> Fetched:
        at, data = cursor.at, chunk.data
        self._link.hand_out(at, cursor.position, cursor.epoch)
        self._reader.observer.handed_out(len(batches), core.shown_records(batches))
        return Fetched(
            topic=at.topic,
            partition=at.partition,
            batches=batches,
            next_offset=cursor.position,
            high_watermark=data.high_watermark,
            last_stable_offset=data.last_stable_offset,
            log_start_offset=data.log_start_offset,
            error=error,
            skipped=skipped,
        )
