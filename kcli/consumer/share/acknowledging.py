"""Acknowledgements to one broker, and the broker's results.

A broker accepts or rejects all acknowledgements of a partition in a request together: if this member no longer holds
one offset, the others are rejected with it. So a rejected range is halved until the offsets are found.
"""

from __future__ import annotations

import asyncio
from collections import namedtuple
from itertools import count

from kcli import codes
from kcli.consumer.share.ranges import NAMES, RENEW, Outcome, Range, cut, halves, merged
from kcli.errors import BrokerError, DeadlineExceeded, DecodeError, KcliError, UnsupportedVersion, cannot_connect
from kcli.model import TopicPartition
from kcli.proto.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import NamedTuple

    from kcli.codes import ErrorCode
    from kcli.consumer.share.chunk import Place
    from kcli.consumer.share.engine import AckEngine

    Ranges = dict[Place, list[Range]]
    Said = dict[Place, tuple[int, str | None]]  # error code and message

    class Plan(NamedTuple):
        """A request: these partitions, and partitions to forget."""

        epoch: int
        send: list[Place]
        forget: list[Place]
else:
    Plan = namedtuple("Plan", "epoch send forget")

LOOKS = 64
"""Number of requests to spend on one rejection; what is not separated by then is rejected as a whole."""
TRIES = 3
_lanes = count(1)
NEW, FINAL, LAST = 0, -1, 2**31 - 1


class Acknowledging:
    """`pending` is to be sent; `urgent` if a caller waits for it, or it is a renewal."""

    def __init__(self, reader: AckEngine, node: int) -> None:
        self.session = ShareSession()
        self.pending: Ranges = {}
        self.urgent = False
        self.lane = f"share {next(_lanes)}"  # a separate connection: the broker releases the records when it ends
        self._reader = reader
        self._node = node
        self.working = False  # a request with acknowledgements is in flight
        self._refused: list[tuple[Place, list[Range], ErrorCode, str | None]] = []
        self._tries = 0

    @property
    def busy(self) -> bool:
        return bool(self.pending or self.working or self._refused)

    def add(self, place: Place, span: Range) -> None:
        """Add a range to the next request."""
        self.pending.setdefault(place, []).append(span)

    def take(self) -> Ranges:
        """Take all pending ranges, merged for a request."""
        acked = {place: merged(ranges) for place, ranges in self.pending.items()}
        self.pending = {}
        self.working = bool(acked)
        return acked

    # -- results of requests ----------------------------------------------------------------------------------------

    def answered(self, acked: Ranges, results: Said) -> None:
        """Process the broker's result of each partition. A rejection of more than one offset is examined later."""
        if acked:  # the request that opens another session has none, and proves nothing
            self._tries = 0
        for place, ranges in acked.items():
            number, message = results.get(place, (0, None))
            if number == codes.INVALID_RECORD_STATE.number and halves(ranges):
                self._refused.append((place, ranges, codes.INVALID_RECORD_STATE, message))
            else:
                self._settle_as(place, ranges, results)

    def given_again(self, place: Place, spans: list[tuple[int, int]]) -> None:
        """The response with the rejection delivered these records again. That is a new delivery, which has to be
        processed before it is acknowledged."""
        refused, self._refused = self._refused, []
        for where, ranges, code, message in refused:
            outside, inside = cut(ranges, spans if where == place else ())
            if inside:
                self._settle(place, merged(inside), BrokerError(code, self._about(place), message or None))
            if outside:
                self._refused.append((where, outside, code, message))

    def session_refused(self, acked: Ranges, code: ErrorCode, message: str | None) -> None:
        """The request was rejected as a whole, and nothing was done. Raises BrokerError for permanent errors."""
        self.session.broke()
        if not code.retriable:
            error = BrokerError(code, self._reader.share.group, message or None)
            self._settle_all(acked, error)
            raise error
        self._again(acked, BrokerError(code, self._reader.share.group, message or None))

    def lost(self, acked: Ranges, error: KcliError, *, sent: bool) -> None:
        """There was no response. Acknowledgements that were not sent are sent again."""
        self.session.broke()
        if sent:
            self._settle_all(acked, error, unknown=True)
        else:
            self._again(acked, error)

    def cancelled(self, acked: Ranges) -> None:
        """The response is no longer awaited."""
        self.lost(acked, DeadlineExceeded("the consumer was closed before the broker answered", sent=True), sent=True)

    def _again(self, acked: Ranges, error: KcliError) -> None:
        self._tries += 1 if acked else 0
        if self._tries >= TRIES:
            self._tries = 0
            self._settle_all(acked, error)
            return
        for place, ranges in acked.items():
            self.pending.setdefault(place, [])[:0] = ranges

    # -- separate requests ------------------------------------------------------------------------------------------

    async def send(self) -> bool:
        """Send all pending acknowledgements in a ShareAcknowledge, and examine rejections. Returns False if the session
        is over."""
        acked = self.take()
        done = await self._ask(acked)
        if done is None:
            return False
        self.answered(acked, done)
        await self.look_into_refusals()
        return True

    async def look_into_refusals(self) -> None:
        """Find the rejected offsets. The other offsets of the request were not acknowledged either, and are
        sent again."""
        while self._refused:
            place, ranges, code, message = self._refused.pop()
            await self._tell_apart(place, ranges, code, message)

    async def _tell_apart(self, place: Place, ranges: list[Range], code: ErrorCode, message: str | None) -> None:
        error = BrokerError(code, self._about(place), message or None)
        parts = halves(ranges)
        looks = LOOKS
        while parts:
            part = parts.pop()
            if looks <= 0 or not self.session.open:
                self._settle(place, part, error)
                continue
            looks -= 1
            results = await self._ask({place: part})
            if results is None:
                continue
            number, _ = results.get(place, (0, None))
            smaller = halves(part) if number == codes.INVALID_RECORD_STATE.number else []
            if smaller:
                parts += smaller
            else:
                self._settle_as(place, part, results)

    async def _ask(self, acked: Ranges) -> Said | None:
        """Return the broker's results by partition; None if the request failed as a whole, which is then handled."""
        reader = self._reader
        try:
            broker = await reader.cluster.node(self._node)
            answer = await broker.ask(
                self._request(acked, self.session.epoch), timeout=reader.settings.request_timeout, lane=self.lane
            )
        except asyncio.CancelledError:
            self.cancelled(acked)
            raise
        except UnsupportedVersion:
            raise
        except KcliError as error:
            if cannot_connect(error):
                raise
            self.lost(acked, error, sent=getattr(error, "sent", False) or isinstance(error, DecodeError))
            return None
        code = codes.of(answer.error_code)
        if code:
            self.session_refused(acked, code, answer.error_message)
            return None
        self.session.answered()
        if answer.acquisition_lock_timeout_ms:
            reader.lock_timeout = answer.acquisition_lock_timeout_ms / 1000
        return {
            (bytes(topic.topic_id), row.partition_index): (row.error_code, row.error_message)
            for topic in answer.responses
            for row in topic.partitions
        }

    def _request(self, acked: Ranges, epoch: int) -> ShareAcknowledgeRequest:
        topics: dict[bytes, AcknowledgeTopic] = {}
        for (topic_id, partition), ranges in acked.items():
            batches = [
                AcknowledgementBatch(first_offset=span.first, last_offset=span.last, acknowledge_types=[span.kind])
                for span in ranges
            ]
            topics.setdefault(topic_id, AcknowledgeTopic(topic_id=topic_id)).partitions.append(
                AcknowledgePartition(partition_index=partition, acknowledgement_batches=batches)
            )
        renews = any(span.kind == RENEW for ranges in acked.values() for span in ranges)
        return ShareAcknowledgeRequest(
            group_id=self._reader.share.group,
            member_id=self._reader.member_id,
            share_session_epoch=epoch,
            is_renew_ack=renews,
            topics=list(topics.values()),
        )

    async def close(self) -> None:
        """Send the pending acknowledgements and end the session, which makes the broker release everything
        still held."""
        if not self.session.open:
            self._settle_all(self.take(), KcliError("the share session had ended"))
            return
        acked = self.take()
        self.session.epoch = FINAL
        results = await self._ask(acked)
        if results is None:
            self._settle_all(self.take(), KcliError("the share session had ended"))
            return
        for place, ranges in acked.items():
            self._settle_as(place, ranges, results)

    def abandon(self) -> None:
        """Discard the pending acknowledgements."""
        self._settle_all(self.take(), KcliError("the consumer was closed before the acknowledgement was sent"))

    # -- outcomes ---------------------------------------------------------------------------------------------------

    def _about(self, place: Place) -> str:
        at = self._reader.names.get(place)
        return f"{at.topic} partition {at.partition}" if at is not None else f"partition {place[1]}"

    def _settle_as(self, place: Place, ranges: list[Range], results: Said) -> None:
        """Settle a partition by the broker's response; unknown if the response does not contain it."""
        if place not in results:
            self._settle(place, ranges, KcliError("the broker's response does not contain it"), unknown=True)
            return
        number, message = results[place]
        error = BrokerError(codes.of(number), self._about(place), message or None) if number else None
        self._settle(place, ranges, error)

    def _settle_all(self, acked: Ranges, error: KcliError, *, unknown: bool = False) -> None:
        for place, ranges in acked.items():
            self._settle(place, ranges, error, unknown=unknown)

    def _settle(self, place: Place, ranges: list[Range], error: KcliError | None, *, unknown: bool = False) -> None:
        at = self._reader.names.get(place) or TopicPartition("", place[1])
        self._reader.settled(
            [
                Outcome(
                    topic=at.topic,
                    partition=at.partition,
                    first=span.first,
                    last=span.last,
                    kind=NAMES[span.kind],
                    error=error,
                    unknown=unknown,
                )
                for span in ranges
            ]
        )

    def turn_over(self) -> None:
        """The request and its follow-ups are finished."""
        self.working = False
        if not self.busy:
            self.urgent = False
            self._reader.acknowledged.set()


class ShareSession:
    """The session with one broker. `epoch` is that of the next request."""

    __slots__ = ("_held", "epoch")

    def __init__(self) -> None:
        self.epoch = NEW
        self._held: set[Place] = set()

    @property
    def open(self) -> bool:
        """Whether acknowledgements can be sent: the request that opens a session must not have any."""
        return self.epoch != NEW

    def surplus(self, wanted: Collection[Place]) -> bool:
        """Whether the broker would send records of partitions that are not wanted."""
        return any(place not in wanted for place in self._held)

    def plan(self, wanted: Collection[Place], acknowledged: Collection[Place] = ()) -> Plan:
        """Return the next ShareFetch: new and acknowledged partitions are included, unused ones are forgotten."""
        send = sorted({place for place in wanted if place not in self._held} | set(acknowledged))
        forget = sorted(place for place in self._held if place not in wanted and place not in acknowledged)
        self._held = (self._held | set(send)).difference(forget)
        return Plan(self.epoch, send, forget)

    def answered(self) -> None:
        """The broker accepted the last request, a ShareFetch or a ShareAcknowledge."""
        self.epoch = 1 if self.epoch == LAST else self.epoch + 1

    def broke(self) -> None:
        """The broker no longer has the session, or its state is unknown: start a new one."""
        self.epoch = NEW
        self._held = set()
