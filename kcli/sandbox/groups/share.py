"""A share group (KIP-932): its members, which may have the same partitions, and the group's state of each partition.

The coordinator's part is short: the members, and their partitions by Kafka's simple assignor. No member gives up
partitions first.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Any

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kcli.sandbox.cluster.topics import Partition, Topics
from kcli.sandbox.configs.named_configs import EARLIEST, GroupConfigs, started
from kcli.sandbox.groups.consumer.group import HEARTBEAT, SESSION
from kcli.sandbox.groups.states import DEAD, EMPTY, STABLE
from kcli.sandbox.log.batches import CONTROL, TRANSACTIONAL, Header
from kcli.sandbox.log.log import Aborted, offset_at

# A share group's state for one partition (KIP-932): which records are free, which are with a member, which done.
#
#     never seen → ACQUIRED → DONE (accepted, rejected, a gap)        start: before it all is done; end: unseen
#                  ACQUIRED → AVAILABLE (released, lock ran out) → ACQUIRED …, DONE after the last allowed delivery
# Kept as ranges, as the records come: the log is not read record by record.


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


Place = tuple[bytes, int]

__all__ = ["HEARTBEAT", "ShareGroup", "ShareMember"]
ASSIGNOR = "simple"
COMMITTED = "read_committed"
JOIN, LEAVE = 0, -1
LONGEST_MEMBER = 36  # a UUID in hexadecimal


def check_member(request: ShareGroupHeartbeatRequest) -> None:
    """Raises BrokerError INVALID_REQUEST for a heartbeat that no group takes."""
    if not 0 < len(request.member_id) <= LONGEST_MEMBER:
        raise BrokerError(codes.INVALID_REQUEST, message=f"MemberId has 1 to {LONGEST_MEMBER} characters.")
    if request.member_epoch < LEAVE:
        raise BrokerError(codes.INVALID_REQUEST, message=f"MemberEpoch {request.member_epoch} is no epoch.")
    if request.member_epoch == JOIN and not request.subscribed_topic_names:
        raise BrokerError(codes.INVALID_REQUEST, message="SubscribedTopicNames must be set to join.")


class ShareMember:
    """`sent_assignment` is the assignment of the last response, None before it."""

    def __init__(self, member_id: str, client_id: str, host: str) -> None:
        self.id, self.client_id, self.host = member_id, client_id, host
        self.rack: str | None = None
        self.topics: list[str] = []
        self.epoch = self.previous = 0
        self.sent_assignment: set[Place] | None = None
        self.timer: asyncio.TimerHandle | None = None

    def stop_timers(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class ShareGroup:
    """Members by id, their targets, and the partitions by topic id and number."""

    kind = protocol_type = "share"
    assignor = ASSIGNOR

    def __init__(
        self, name: str, topics: Topics, configs: GroupConfigs, note: Callable[[str, dict[str, Any]], None]
    ) -> None:
        self.name = name
        self.members: dict[str, ShareMember] = {}
        self.epoch = 1  # the first member makes it 2, as in Kafka
        self.target: dict[str, set[Place]] = {}
        self.partitions: dict[Place, SharePartition] = {}
        self._topics = topics
        self._configs = configs
        self._write = note
        self._source: object = None
        self._closed = False

    @property
    def state(self) -> str:
        return DEAD if self._closed else STABLE if self.members else EMPTY

    # -- heartbeats -------------------------------------------------------------------------------------------------

    def heartbeat(self, request: ShareGroupHeartbeatRequest, client_id: str, host: str) -> ShareMember | None:
        """The member as it is now, None when it left. Raises BrokerError."""
        if request.member_epoch == LEAVE:
            self.remove(self._known(request.member_id))
            return None
        if request.member_epoch == JOIN:
            member = self.members.setdefault(request.member_id, ShareMember(request.member_id, client_id, host))
            member.sent_assignment = None
        else:
            member = self._known(request.member_id)
            if request.member_epoch not in (member.epoch, member.previous):
                raise BrokerError(codes.FENCED_MEMBER_EPOCH)
        if request.subscribed_topic_names is not None:
            member.topics = list(dict.fromkeys(request.subscribed_topic_names))
        member.rack = request.rack_id or member.rack
        self._retarget()
        if member.epoch != self.epoch:
            member.previous, member.epoch = member.epoch, self.epoch
        self.beat(member)
        return member

    def _known(self, member_id: str) -> ShareMember:
        if member_id not in self.members:
            raise BrokerError(codes.UNKNOWN_MEMBER_ID)
        return self.members[member_id]

    def _retarget(self) -> None:
        """Another epoch and other targets when the members, or what they read, have changed."""
        there = self._topics.by_name
        wanted = {each.id: sorted(name for name in each.topics if name in there) for each in self.members.values()}
        counts = {name: (there[name].id, len(there[name].partitions)) for some in wanted.values() for name in some}
        if (wanted, counts) == self._source:
            return
        self._source = (wanted, counts)
        self.epoch += 1
        self.target = {member: set() for member in wanted}
        for name, (topic_id, count) in counts.items():
            readers = sorted(member for member, topics in wanted.items() if name in topics)
            for turn in range(max(len(readers), count)):  # every member gets a partition, every partition gets a member
                self.target[readers[turn % len(readers)]].add((topic_id, turn % count))

    def beat(self, member: ShareMember) -> None:
        """A heartbeat of a member: its session starts again."""
        member.stop_timers()
        member.timer = asyncio.get_running_loop().call_later(SESSION, self.remove, member)

    def remove(self, member: ShareMember) -> None:
        """Gone. What it acquired is free when its locks run out, or when its connection ends."""
        if self.members.get(member.id) is member:
            del self.members[member.id]
            self.target.pop(member.id, None)
            member.stop_timers()
            self._retarget()

    def prepare(self) -> None:
        """A fault: every member's epoch is stale."""
        for member in self.members.values():
            member.epoch += 10
            member.previous = member.epoch

    def member_of(self, member_id: str, instance_id: str | None, generation: int) -> ShareMember:
        """Always raises BrokerError: a share group has no committed offsets."""
        raise BrokerError(codes.GROUP_ID_NOT_FOUND, message=f"Group {self.name} is a share group.")

    def subscribes(self, topic: str) -> bool:
        return any(topic in each.topics for each in self.members.values())

    # -- records ----------------------------------------------------------------------------------------------------

    def partition(self, partition: Partition) -> SharePartition:
        """The group's state of a partition, created at its first read, at the start or the end of the log."""
        place = (partition.topic.id, partition.index)
        share_partition = self.partitions.get(place)
        if share_partition is None:
            share_partition = self._create(partition, self._first(partition))
            self._note(share_partition)
        return share_partition

    def _first(self, partition: Partition) -> int:
        """Where a group without a state begins, by share.auto.offset.reset."""
        reset = self.config("share.auto.offset.reset")
        age = started(reset)
        if age is not None:
            offset, _, _ = offset_at(partition, int(time.time() * 1000) - age, committed=False)
            return offset if offset >= 0 else partition.log.end
        return partition.log.start if reset == EARLIEST else partition.log.end

    def _create(self, partition: Partition, start: int) -> SharePartition:
        share_partition = self.partitions[partition.topic.id, partition.index] = SharePartition(
            partition,
            start,
            lambda: int(self.config("share.record.lock.duration.ms")) / 1000,
            lambda: int(self.config("share.delivery.count.limit")),
            lambda: self.config("share.isolation.level") == COMMITTED,
            self._note,
        )
        return share_partition

    def config(self, name: str) -> str:
        return self._configs.value(self.name, name)

    def move(self, partition: Partition, start: int) -> None:
        """Begin here, whatever was before (AlterShareGroupOffsets)."""
        old = self.partitions.pop((partition.topic.id, partition.index), None)
        if old is not None:
            old.close()
        self._note(self._create(partition, start))

    def forget(self, topic_id: bytes) -> bool:
        """Nothing was ever read of this topic; whether there was anything to forget."""
        places = [place for place in self.partitions if place[0] == topic_id]
        for place in places:
            self.partitions.pop(place).close()
            gone = {"group": self.name, "id": place[0].hex(), "partition": place[1], "start": None}
            self._write("share", gone)
        return bool(places)

    def topic_deleted(self, topic: str) -> None:
        """Drop the state of a deleted topic."""
        topics = {each.partition.topic for each in self.partitions.values()}
        for each in topics:
            if each.name == topic:
                self.forget(each.id)

    def release(self, member_id: str, node: int) -> None:
        """Whatever the member has of partitions that this broker leads is free."""
        for each in list(self.partitions.values()):
            if each.partition.leader == node:
                each.release(member_id)

    def _note(self, state: SharePartition) -> None:
        facts = {
            "group": self.name,
            "id": state.partition.topic.id.hex(),
            "partition": state.partition.index,
            "start": state.start,
            "done": state.done(),
        }
        self._write("share", facts)

    def restore(self, facts: dict[str, Any]) -> None:
        """One partition as the journal knows it."""
        topic = self._topics.by_id.get(bytes.fromhex(facts["id"]))
        if topic is not None and facts["partition"] < len(topic.partitions):
            self._create(topic.partitions[facts["partition"]], 0).restore(facts["start"], facts["done"])

    def close(self) -> None:
        self._closed = True
        for member in self.members.values():
            member.stop_timers()
        for each in self.partitions.values():
            each.close()
