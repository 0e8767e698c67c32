"""What can be strange in a log, and what a broker can forget or say wrongly about it."""

from __future__ import annotations

import time
from collections.abc import Callable

from kcli.proto.columns import Record
from kcli.proto.messages.fetch import FetchResponse
from kcli.proto.varint import encode_varint
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.faults.planned import FOREVER, Planned
from kcli.sandbox.log.batches import CHECKED_FROM, LAYOUT, SIZE, TRANSACTIONAL, Header, checksum
from kcli.sandbox.log.log import Log
from kcli.sandbox.wire.client_rules import ClientRules

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
BOMB_STEP = 1024 * 1024
_RECORD = b"\x00\x00\x00\x01\x0ehanging\x00"  # no deltas, a null key, seven bytes of value, no headers


class LogFaults:
    """Faults of partitions: their records, their producers' state, their history. `rules` learns where a producer
    cannot be judged any more; `producer` finds or makes the (id, epoch) of a transactional id, or of None."""

    def __init__(
        self, planned: Planned, topics: Topics, rules: ClientRules, producer: Callable[[str | None], tuple[int, int]]
    ) -> None:
        self._planned = planned
        self._topics = topics
        self._rules = rules
        self._producer = producer

    def corrupt(self, topic: str, partition: int | None = None, *, times: int = 1) -> None:
        """The next fetched records of a partition fail their checksum; what is stored stays whole."""
        self._planned.plan("corrupt", "Fetch", times=times, topic=topic, partition=partition)

    def forget_producers(self, topic: str, partition: int) -> None:
        """The partition loses its producers' state: UNKNOWN_PRODUCER_ID for their next batch."""
        target = self._topics.partition(topic, partition)
        target.producers.forget()
        self._rules.forget(topic, partition)

    def truncate(self, topic: str, partition: int, offset: int) -> None:
        """Lose acknowledged records from `offset` on in a new leader epoch: unclean leader election (C9)."""
        target = self._topics.partition(topic, partition)
        target.log.truncate(offset)
        target.leader_epoch += 1
        self._rules.forget(topic, partition)
        target.wake()

    def diverge(self, topic: str, partition: int, epoch: int, end_offset: int, *, times: int = 1) -> None:
        """The next fetches are answered that the histories part after `end_offset` of leader epoch `epoch` (C10)."""
        from kcli.proto.messages.fetch import EpochEndOffset

        diverging = EpochEndOffset(epoch=epoch, end_offset=end_offset)
        self._planned.plan("diverge", "Fetch", diverging, times=times, topic=topic, partition=partition)

    def recreate(self, topic: str) -> None:
        """Delete the topic and make it again: same name, same partitions, new id (C8)."""
        topics = self._topics
        old = topics.by_name[topic]
        topics.delete(old)
        topics.create(topic, len(old.partitions), configs=old.configs, assignments=[p.replicas for p in old.partitions])
        for partition in range(len(old.partitions)):
            self._rules.forget(topic, partition)

    def hang_transaction(
        self, topic: str, partition: int = 0, *, age: float = 3600.0, transactional_id: str | None = None
    ) -> int:
        """A transaction is open in the partition that no coordinator will end, its last record that many seconds old;
        with a transactional id its coordinator knows the producer and not this partition (KIP-664). Returns its first
        offset."""
        target = self._topics.partition(topic, partition)
        producer, epoch = self._producer(transactional_id)
        known = target.producers.known.get(producer)
        sequence = known.last_sequence + 1 if known is not None and known.epoch == epoch else 0
        data = hanging_batch(producer, epoch, sequence, int((time.time() - age) * 1000))
        header = Header(data)
        header.base_offset = self.append(topic, partition, data)
        target.producers.note(header)
        self._rules.forget(topic, partition)
        return header.base_offset

    def unordered_aborted(self, *, times: int = FOREVER) -> None:
        """Fetch tells the aborted transactions in the wrong order, the last one first, as Redpanda may (E15)."""
        self._planned.plan("alter", "Fetch", _backwards, times=times)

    # -- strange batches ------------------------------------------------------------------------------------------

    def append(self, topic: str, partition: int, batch: bytes) -> int:
        """Store a batch as it is, whatever it is: nothing but its CRC, offset and leader epoch is put right. Returns
        its first offset."""
        target = self._topics.partition(topic, partition)
        header = Header(batch)
        header.crc = checksum(batch[CHECKED_FROM:])
        base = target.log.append(header, batch, target.leader_epoch, None)
        target.wake()
        return base

    def end_with_marker(self, topic: str, partition: int, *, commit: bool = True, producer_id: int = 1 << 40) -> int:
        """A transaction marker is the last thing in the log (E4, E18). Returns its offset."""
        from kcli.sandbox.transactions import marker

        return self.append(topic, partition, marker(producer_id, 0, commit=commit, now=1_000))

    def empty_batch(self, topic: str, partition: int, offsets: int = 1) -> int:
        """A batch whose `offsets` records compaction removed; its header stays (E4). Returns its first offset."""
        return self.append(topic, partition, _batch(0, 0, offsets, b""))

    def bomb(self, topic: str, partition: int, size: int = 1 << 30, codec: str = "gzip") -> int:
        """A batch of one record that says it is `size` bytes of nothing: small until it is decompressed (E6). Only
        gzip and zstd: frames one after the other. Returns its offset."""
        from kcli.proto.compression import compress

        if codec not in ("gzip", "zstd"):
            raise ValueError(f"a bomb is made of gzip or zstd, not {codec}")
        step = bytes(compress(codec, bytes(BOMB_STEP)))
        head = _batch(CODECS.index(codec), 1, 1, step * -(-size // BOMB_STEP))
        return self.append(topic, partition, head)

    def compact(self, topic: str, partition: int, keep: Callable[[int], bool], *, emptied_stay: bool = True) -> None:
        """Remove the records whose offsets `keep` does not want, as the log cleaner does: the batches keep their
        offsets. A batch that loses all of its records stays as an empty one, or goes (not the last one)."""
        log = self._topics.partition(topic, partition).log
        batches = [(header, data) for header, data in _stored(log)]
        end = log.end
        log.truncate(log.start)
        for at, (header, data) in enumerate(batches):
            thinned = data if header.attributes & TRANSACTIONAL else _thinned(header, data, keep)
            if Header(thinned).count == 0 and not emptied_stay and at < len(batches) - 1:
                continue
            log.end = header.base_offset  # there may be nothing before it any more
            log.append(Header(thinned), thinned, header.leader_epoch, None)
        log.end = end


def _backwards(response: FetchResponse) -> None:
    for topic in response.responses:
        for row in topic.partitions:
            if row.aborted_transactions:
                row.aborted_transactions.sort(key=lambda aborted: -aborted.first_offset)


def _batch(attributes: int, count: int, offsets: int, body: bytes) -> bytes:
    """A batch of no producer; its CRC is put in by `append`."""
    head = LAYOUT.pack(0, SIZE - 12 + len(body), -1, 2, 0, attributes, offsets - 1, 1_000, 1_000, -1, -1, -1, count)
    return head + body


def _stored(log: Log) -> list[tuple[Header, bytes]]:
    return [
        (Header(segment.view, segment.start_of(row)), bytes(segment.view[segment.start_of(row) : segment.ends[row]]))
        for segment, row in log.batches()
    ]


def _thinned(header: Header, data: bytes, keep: Callable[[int], bool]) -> bytes:
    """The batch with the records that stay, under its own offsets. They are encoded here one by one: a builder would
    number them anew."""
    from kcli.proto.batch import read_batches

    (batch,) = read_batches(data)
    body = b""
    kept = 0
    for record in batch:
        if keep(record.offset):
            body += _record(record.offset - header.base_offset, record.timestamp - header.base_timestamp, record)
            kept += 1
    thin = Header(data)
    thin.attributes &= ~7  # not compressed any more
    thin.length = SIZE - 12 + len(body)
    thin.count = kept
    thin.crc = checksum(body, checksum(thin.pack()[CHECKED_FROM:]))
    return thin.pack() + body


def _record(offset_delta: int, timestamp_delta: int, record: Record) -> bytes:
    parts = [b"\0", encode_varint(timestamp_delta), encode_varint(offset_delta)]
    for field in (record.key, record.value):
        parts += [encode_varint(-1)] if field is None else [encode_varint(len(field)), field]
    parts.append(encode_varint(len(record.headers)))
    for name, value in record.headers:
        raw = name.encode("utf-8", "surrogateescape")
        parts += [encode_varint(len(raw)), raw]
        parts += [encode_varint(-1)] if value is None else [encode_varint(len(value)), value]
    body = b"".join(parts)
    return encode_varint(len(body)) + body


# A hanging transaction, made as they come about: a batch of a transaction arrives after its coordinator has ended
# that, or was never told of the partition, and brokers before KIP-890 took it.
def hanging_batch(producer_id: int, epoch: int, sequence: int, timestamp: int) -> bytes:
    """A transactional batch of one record, `timestamp` in ms; the log puts in offset, leader epoch and CRC."""
    body = bytes([2 * len(_RECORD)]) + _RECORD
    head = LAYOUT.pack(
        0, SIZE - 12 + len(body), -1, 2, 0, TRANSACTIONAL, 0, timestamp, timestamp, producer_id, epoch, sequence, 1
    )
    return head + body
