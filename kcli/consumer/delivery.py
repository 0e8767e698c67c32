"""What a poll hands out: the partitions that waited longest first, a chunk of each, cut to the position and the end."""

from __future__ import annotations

from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kcli.consumer.cursor import Cursor
    from kcli.consumer.link import Link
    from kcli.consumer.reader import Reader
    from kcli.errors import KcliError
    from kcli.model import TopicPartition
    from kcli.proto.batch import Batch


class Fetched(Value):
    """What one poll hands out of one partition. `next_offset` is the position after it; `batches` may be empty where
    only markers or aborted records were, or where `error` is all there is. Offsets are -1 where unknown. `skipped` says
    what skip_corrupt left out."""

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

    def hand_out(self, most: int, owned: Collection[TopicPartition] | None) -> list[Fetched]:
        """The first chunk of each that may be delivered, until `most` bytes are reached; they go to the end of the
        queue. `owned` is what the group gives at this moment, None without one."""
        ready = self._ready(most, owned)
        got = [self._next_of(cursor) for cursor in ready]
        if got:
            served = {cursor.at for cursor in ready}
            self._turn = [at for at in self._turn if at not in served] + [cursor.at for cursor in ready]
            self._reader.changed()
        return got

    def _ready(self, most: int, owned: Collection[TopicPartition] | None) -> list[Cursor]:
        cursors = self._reader.cursors
        known = [at for at in self._turn if at in cursors]
        if len(known) != len(cursors):
            seen = set(known)
            known += [at for at in cursors if at not in seen]
        self._turn = known
        ready: list[Cursor] = []
        size = 0
        for at in known:
            cursor = cursors[at]
            if not cursor.deliverable or (owned is not None and at not in owned):
                continue
            if cursor.chunks:
                if ready and size + cursor.chunks[0].size > most:
                    break
                size += cursor.chunks[0].size
            ready.append(cursor)
        return ready

    def _next_of(self, cursor: Cursor) -> Fetched:
        at, settings = cursor.at, self._reader.settings
        if not cursor.chunks:
            error, cursor.error = cursor.error, None
            return Fetched(topic=at.topic, partition=at.partition, batches=[], next_offset=cursor.position, error=error)
        chunk = cursor.chunks[0]
        chunk.open(at, settings)
        batches, following = chunk.window(
            cursor.position, cursor.end, committed=settings.isolation == "read_committed",
            control=settings.include_control,
        )  # fmt: skip
        trouble = chunk.trouble
        cursor.delivered(following, -1 if trouble is not None else chunk.epoch)
        if trouble is not None and not (cursor.end is not None and following >= cursor.end):
            cursor.rewind()
            cursor.fail(trouble)
            cursor.error = None  # handed out right here
        else:
            trouble = None
        self._link.hand_out(at, following, cursor.epoch)
        data = chunk.data
        return Fetched(
            topic=at.topic,
            partition=at.partition,
            batches=batches,
            next_offset=following,
            high_watermark=data.high_watermark,
            last_stable_offset=data.last_stable_offset,
            log_start_offset=data.log_start_offset,
            error=trouble,
            skipped=chunk.skipped,
        )
