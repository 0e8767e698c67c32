"""Producers: which batch may be appended next. A partition remembers the last five batches of every producer id, so a
retry gets its first offset instead of being stored twice (KIP-98)."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.log.batches import Header

REMEMBERED = 5
SEQUENCE_MASK = 0x7FFFFFFF  # sequences wrap from 2**31 - 1 to 0


class _Producer:
    __slots__ = ("batches", "epoch", "marked", "timestamp")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.batches: list[tuple[int, int, int]] = []  # (first sequence, last sequence, base offset)
        self.timestamp = -1  # of its newest batch or marker, in ms
        self.marked = False  # whether a transaction of it was ever ended here

    @property
    def last_sequence(self) -> int:
        """-1 when nothing was written in this epoch."""
        return self.batches[-1][1] if self.batches else -1


class PartitionProducers:
    """The producers of one partition."""

    def __init__(self) -> None:
        self.known: dict[int, _Producer] = {}
        self._forgotten: set[int] = set()

    def duplicate(self, header: Header) -> int | None:
        """The base offset of the same batch stored before, None when the batch is the next one. Raises BrokerError
        INVALID_PRODUCER_EPOCH, OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID."""
        first = header.base_sequence
        known = self.known.get(header.producer_id)
        if known is None:
            if header.producer_epoch < -1:
                raise BrokerError(codes.INVALID_PRODUCER_EPOCH, message=f"epoch {header.producer_epoch}")
            if header.producer_id in self._forgotten and first != 0:
                raise BrokerError(codes.UNKNOWN_PRODUCER_ID)
            return None  # Kafka takes any first sequence of a producer it does not know (KAFKA-5793)
        if header.producer_epoch < known.epoch:
            raise BrokerError(
                codes.INVALID_PRODUCER_EPOCH, message=f"epoch {header.producer_epoch}, current is {known.epoch}"
            )
        if header.producer_epoch > known.epoch:
            if first != 0:
                raise BrokerError(
                    codes.OUT_OF_ORDER_SEQUENCE_NUMBER, message=f"a new epoch starts with sequence {first}"
                )
            return None
        last = last_sequence(header)
        for was_first, was_last, base_offset in known.batches:
            if (was_first, was_last) == (first, last):
                return base_offset
        expected = known.last_sequence + 1 & SEQUENCE_MASK
        if first != expected:
            raise BrokerError(codes.OUT_OF_ORDER_SEQUENCE_NUMBER, message=f"sequence {first}, expected {expected}")
        return None

    def note(self, header: Header) -> None:
        """Remember an appended batch."""
        known = self.known.get(header.producer_id)
        if known is None or known.epoch != header.producer_epoch:
            known = self.known[header.producer_id] = _Producer(header.producer_epoch)
            self._forgotten.discard(header.producer_id)
        known.batches.append((header.base_sequence, last_sequence(header), header.base_offset))
        del known.batches[:-REMEMBERED]
        known.timestamp = header.max_timestamp

    def ended(self, header: Header) -> None:
        """Remember a marker. Its epoch may be newer than the transaction's: then older ones have no say (KIP-890)."""
        known = self.known.get(header.producer_id)
        if known is None or known.epoch < header.producer_epoch:
            known = self.known[header.producer_id] = _Producer(header.producer_epoch)
            self._forgotten.discard(header.producer_id)
        known.marked = True
        known.timestamp = header.max_timestamp

    def forget(self) -> None:
        """Lose all of it, as retention does: the next batch of a known producer is UNKNOWN_PRODUCER_ID (a fault)."""
        self._forgotten.update(self.known)
        self.known.clear()


def last_sequence(header: Header) -> int:
    return header.base_sequence + header.last_offset_delta & SEQUENCE_MASK
