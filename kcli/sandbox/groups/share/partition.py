"""A share group's state for one partition (KIP-932): which records are free, which are with a member, which done.

    never seen → ACQUIRED → DONE (accepted, rejected, a gap)        start: before it all is done; end: unseen
                 ACQUIRED → AVAILABLE (released, lock ran out) → ACQUIRED …, DONE after the last allowed delivery
Kept as ranges, as the records come: the log is not read record by record.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.cluster.topics import Partition
from kcli.sandbox.log.batches import CONTROL, TRANSACTIONAL, Header
from kcli.sandbox.log.log import Aborted

Acquired = tuple[int, int, int]  # first and last offset, delivery count

AVAILABLE, ACQUIRED, DONE = "available", "acquired", "done"
GAP, ACCEPT, RELEASE, REJECT, RENEW = 0, 1, 2, 3, 4
MOST_IN_FLIGHT = 2000  # group.share.partition.max.record.locks


class Flight:
    """A range of offsets that share a fate."""

    __slots__ = ("count", "first", "last", "member", "state", "until")

    def __init__(self, first: int, last: int, state: str, count: int = 0, member: str = "", until: float = 0.0) -> None:
        self.first, self.last, self.state = first, last, state
        self.count, self.member, self.until = count, member, until

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    def part(self, first: int, last: int) -> Flight:
        return Flight(first, last, self.state, self.count, self.member, self.until)


def _is_aborted(header: Header, aborted: Iterable[Aborted]) -> bool:
    """Whether it is data of a transaction that was aborted."""
    return header.attributes & (TRANSACTIONAL | CONTROL) == TRANSACTIONAL and any(
        one.producer_id == header.producer_id and one.first <= header.base_offset <= one.marker for one in aborted
    )


class SharePartition:
    """`lock` is the seconds for which records are acquired, `limit` the largest number of deliveries, `committed`
    whether aborted records are passed; they are read each time, since a group's configuration may change. `note`
    journals a change."""

    def __init__(
        self,
        partition: Partition,
        start: int,
        lock: Callable[[], float],
        limit: Callable[[], int],
        committed: Callable[[], bool],
        note: Callable[[SharePartition], None],
    ) -> None:
        self.partition = partition
        self.start = self.end = start
        self.flights: list[Flight] = []
        self._lock, self._limit, self._committed, self._note = lock, limit, committed, note
        self._timer: asyncio.TimerHandle | None = None
        self._epoch = partition.leader_epoch

    def led(self) -> SharePartition:
        """As the present leader has it: a new one knows of no member's records."""
        if self._epoch != self.partition.leader_epoch:
            self._epoch = self.partition.leader_epoch
            self.expire(everything=True)
        return self

    # -- what a fetch takes -----------------------------------------------------------------------------------------

    def acquire(self, member: str, max_bytes: int, max_records: int, *, exact: bool) -> tuple[Any, list[Acquired]]:
        """Whole batches and what of them is this member's now; at most `max_records`, or with the batch in which that
        is reached. Nothing when there is nothing."""
        self._follow_log()
        while True:
            offset = next((flight.first for flight in self.flights if flight.state == AVAILABLE), self.end)
            if max_records <= 0 or offset >= self.partition.log.end or self._full(offset):
                return None, []
            records, taken = self._acquired(member, offset, (max_bytes, max_records), exact=exact)
            if taken or not records:
                return records, taken
            self._settled()  # all of it was aborted: look behind it

    def _acquired(self, member: str, offset: int, most: tuple[int, int], *, exact: bool) -> tuple[Any, list[Acquired]]:
        """What can be acquired from an offset on. `most` are the largest bytes and the largest number of records."""
        log, (max_bytes, max_records), committed = self.partition.log, most, self._committed()
        records = log.read(offset, max_bytes, oversize=True, stop=log.stable if committed else None)
        if not records:
            return None, []
        aborted = log.aborted_index.aborted(offset, log.next_after(offset, len(records))) if committed else []
        taken: list[Acquired] = []
        at = count = 0
        while at < len(records) and count < max_records:
            header = Header(records, at)
            first = max(header.base_offset, offset)
            last = header.base_offset + header.last_offset_delta
            at += header.size
            if _is_aborted(header, aborted):
                self._pass(first, last)
                continue
            for low, high, times in self._take(member, first, last, max_records - count if exact else None):
                taken.append((low, high, times))
                count += high - low + 1
        return records[:at], taken

    def _pass(self, first: int, last: int) -> None:
        """Aborted records: what is free of them is done."""
        self._see(first, last)
        for flight in self._pieces(first, last):
            if flight.state == AVAILABLE:
                flight.state = DONE

    def _full(self, offset: int) -> bool:
        return offset >= self.end and self.end - self.start >= MOST_IN_FLIGHT

    def _take(self, member: str, first: int, last: int, most: int | None) -> list[Acquired]:
        """What is free of [first, last]."""
        until = asyncio.get_running_loop().time() + self._lock()
        self._see(first, last)
        taken: list[Acquired] = []
        for flight in self._pieces(first, last):
            if flight.state != AVAILABLE or (most is not None and most <= 0):
                continue
            if most is not None and flight.size > most:
                flight = self._pieces(flight.first, flight.first + most - 1)[0]
            flight.state, flight.member, flight.until, flight.count = ACQUIRED, member, until, flight.count + 1
            taken.append((flight.first, flight.last, flight.count))
            most = None if most is None else most - flight.size
        self._watch()
        return taken

    def _see(self, first: int, last: int) -> None:
        """What was unseen of [first, last] is available."""
        if last >= self.end:
            if self.end < first:  # a gap that compaction left: nothing will ever come of it
                self.flights.append(Flight(self.end, first - 1, DONE))
            self.flights.append(Flight(max(first, self.end), last, AVAILABLE))
            self.end = last + 1

    def _pieces(self, first: int, last: int) -> list[Flight]:
        """The flights of [first, last], cut so that none reaches over either end."""
        kept: list[Flight] = []
        inside: list[Flight] = []
        for flight in self.flights:
            if flight.last < first or flight.first > last:
                kept.append(flight)
                continue
            low, high = max(flight.first, first), min(flight.last, last)
            if flight.first < low:
                kept.append(flight.part(flight.first, low - 1))
            middle = flight if (low, high) == (flight.first, flight.last) else flight.part(low, high)
            kept.append(middle)
            inside.append(middle)
            if high < flight.last:
                kept.append(flight.part(high + 1, flight.last))
        self.flights = kept
        return inside

    # -- changes by acknowledgements --------------------------------------------------------------------------------

    def acknowledge(self, member: str, acknowledgements: Iterable[tuple[int, int, int]]) -> None:
        """(first, last, kind) in order. Either all are applied or none. Raises BrokerError INVALID_RECORD_STATE for
        records that this member does not hold, INVALID_REQUEST for offsets past those that were delivered. Records
        before the start offset are done and are skipped."""
        ranges = list(acknowledgements)
        following = -1
        for first, last, _ in ranges:
            if self.flights and last >= self.end:
                raise BrokerError(codes.INVALID_REQUEST, message="The last offset is past the acquired records.")
            overlaps, following = first <= following, last
            if last >= self.start and (overlaps or not self._holds(member, first, last)):
                text = "The record state is invalid. The acknowledgement of delivery could not be completed."
                raise BrokerError(codes.INVALID_RECORD_STATE, message=text)
        for first, last, kind in ranges:
            for flight in self._pieces(first, last):
                if flight.last >= self.start:
                    self._apply(flight, kind)
        self._settled()

    def _holds(self, member: str, first: int, last: int) -> bool:
        following = max(first, self.start)
        for flight in self.flights:
            if flight.last < following or flight.first > last:
                continue
            if flight.first > following or flight.state != ACQUIRED or flight.member != member:
                return False
            following = flight.last + 1
        return following > last

    def _apply(self, flight: Flight, kind: int) -> None:
        if kind == RENEW:
            flight.until = asyncio.get_running_loop().time() + self._lock()
        elif kind == RELEASE:
            self._free(flight)
        else:
            flight.state, flight.member = DONE, ""

    def _free(self, flight: Flight) -> None:
        flight.state, flight.member = (AVAILABLE if flight.count < self._limit() else DONE), ""

    def release(self, member: str) -> None:
        """All that the member has is free: its session ended."""
        held = [flight for flight in self.flights if flight.state == ACQUIRED and flight.member == member]
        for flight in held:
            self._free(flight)
        if held:
            self._settled()

    # -- the time, and the log --------------------------------------------------------------------------------------

    def _watch(self) -> None:
        """One timer, for the lock that runs out first."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        locks = [flight.until for flight in self.flights if flight.state == ACQUIRED]
        if locks:
            self._timer = asyncio.get_running_loop().call_at(min(locks), self.expire)

    def expire(self, *, everything: bool = False) -> None:
        """Locks that ran out are no more; a fault has them all run out."""
        now = asyncio.get_running_loop().time()
        for flight in self.flights:
            if flight.state == ACQUIRED and (everything or flight.until <= now):
                self._free(flight)
        self._settled()

    def _follow_log(self) -> None:
        """What retention or a deletion took is done."""
        start = self.partition.log.start
        if start > self.start:
            for flight in self._pieces(self.start, start - 1):
                flight.state = DONE
            self.start, self.end = start, max(start, self.end)
            self._settled()

    def _settled(self) -> None:
        """The start moves past what is done; whoever waits for records looks again."""
        kept: list[Flight] = []
        for flight in self.flights:
            if flight.last < self.start or (flight.state == DONE and not kept):
                self.start = max(self.start, flight.last + 1)
            elif kept and flight.state == DONE and kept[-1].state == DONE and kept[-1].last + 1 == flight.first:
                kept[-1].last = flight.last
            else:
                kept.append(flight)
        self.flights = kept
        self._note(self)
        self._watch()
        self.partition.wake()

    # -- answers to questions ---------------------------------------------------------------------------------------

    @property
    def lag(self) -> int:
        """Offsets that are not done."""
        done = sum(flight.size for flight in self.flights if flight.state == DONE)
        return max(self.partition.log.end - max(self.start, self.partition.log.start) - done, 0)

    def done(self) -> list[list[int]]:
        """The finished offsets beyond the start."""
        return [[flight.first, flight.last] for flight in self.flights if flight.state == DONE]

    def restore(self, start: int, done: Iterable[Iterable[int]]) -> None:
        """Restore the state before the process ended: acquired records are available again."""
        self.start = self.end = start
        for first, last in done:
            if first > self.end:
                self.flights.append(Flight(self.end, first - 1, AVAILABLE, 1))
            self.flights.append(Flight(first, last, DONE))
            self.end = last + 1

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
