"""Checks on the broker's side whether kcli's client follows the protocol. Violations are recorded, not rejected,
because Kafka accepts them.

Only connections that identify themselves as kcli in ApiVersions are checked. Other clients may have reasons: more
requests in flight by configuration, other correlation ids. `Sandbox.violations` has the violations, as sentences.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kcli.proto.buffer import Buffer
from kcli.proto.session import Received
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.log.batches import SIZE, Header
from kcli.sandbox.log.producers import SEQUENCE_MASK, last_sequence

OURS = "kcli"
MOST_IN_FLIGHT = 5
MAX_ID = 0x7FFFFFFF
REMEMBERED = 5
PRODUCE, OFFSET_COMMIT, JOIN_GROUP, TXN_OFFSET_COMMIT = 0, 8, 11, 28


class _Sequence:
    """What a producer last wrote to a partition."""

    __slots__ = ("batches", "epoch", "following")

    def __init__(self, epoch: int, following: int = 0) -> None:
        self.epoch = epoch
        self.following = following
        self.batches: dict[int, int] = {}  # first sequence to CRC, of the last few


class ClientRules:
    """The violations, and the state to detect them."""

    def __init__(self, topics: Topics, *, durable: bool) -> None:
        self.topics = topics
        self._durable = durable  # producers may have written before this process started
        self.violations: list[str] = []
        self.generations: dict[tuple[str, str], int] = {}  # (group, member) to the last generation sent to it
        self._sequences: dict[tuple[str, int], dict[int, _Sequence]] = {}  # by partition, by producer id
        self._forgotten: set[tuple[str, int]] = set()

    def meet(self, node_id: int, waiting: Collection[Buffer], asked: Received) -> ConnectionChecks | None:
        """Return a witness for a connection whose ApiVersions names kcli. `waiting` are its unread requests to the
        broker `node_id`."""
        ours = getattr(asked.request, "client_software_name", "") == OURS
        return ConnectionChecks(self, node_id, waiting, asked.correlation_id) if ours else None

    def forget(self, topic: str, partition: int) -> None:
        """The broker lost its producers' state, so their next sequences prove nothing."""
        self._forgotten.add((topic, partition))
        self._sequences.pop((topic, partition), None)

    def appended(self, topic: str, partition: int, header: Header) -> str | None:
        """Return the violation of a batch that was stored now, or recognized as a duplicate; None without one."""
        producers = self._sequences.setdefault((topic, partition), {})
        known = producers.get(header.producer_id)
        first = header.base_sequence
        if known is None:  # a producer may be older than what is remembered about it
            older = (topic, partition) in self._forgotten or self._durable
            known = producers[header.producer_id] = _Sequence(header.producer_epoch, first if older else 0)
        elif header.producer_epoch != known.epoch:
            known = producers[header.producer_id] = _Sequence(header.producer_epoch)
        crc = known.batches.get(first)
        if crc is not None:
            return None if crc == header.crc else f"sequence {first} was sent again with different bytes"
        expected, known.following = known.following, (last_sequence(header) + 1) & SEQUENCE_MASK
        known.batches[first] = header.crc
        if len(known.batches) > REMEMBERED:
            del known.batches[next(iter(known.batches))]
        return None if first == expected else f"sequence {first} instead of {expected}"


class ConnectionChecks:
    """Checks one connection of kcli."""

    def __init__(self, rules: ClientRules, node_id: int, waiting: Collection[Buffer], correlation_id: int) -> None:
        self._rules = rules
        self._node_id = node_id
        self._waiting = waiting
        self._last = correlation_id

    def _say(self, what: str) -> None:
        self._rules.violations.append(f"broker {self._node_id}: {what}")

    def numbered(self, correlation_id: int) -> None:
        """A request arrived."""
        expected = 0 if self._last == MAX_ID else self._last + 1
        if correlation_id != expected:
            self._say(f"request {correlation_id} after request {self._last}")
        self._last = correlation_id

    def saw(self, request: Any, response: Any) -> None:
        """A request was answered; the response is not written yet."""
        key = request.api_key
        if key == PRODUCE:
            self._produced(request, response)
        elif key == JOIN_GROUP and not response.error_code:
            self._rules.generations[request.group_id, response.member_id] = response.generation_id
        elif key in (OFFSET_COMMIT, TXN_OFFSET_COMMIT):
            self._committed(request, request.generation_id_or_member_epoch)

    def _committed(self, request: Any, generation: int) -> None:
        current = self._rules.generations.get((request.group_id, request.member_id))
        if current is not None and generation != current:
            self._say(
                f"{request.member_id} commits for generation {generation} of {request.group_id}, but is in "
                f"generation {current}"
            )

    def _produced(self, request: Any, response: Any) -> None:
        if response is None:
            return  # acks=0: nothing is in flight, nothing is known of it
        in_flight = 1 + sum(bytes(frame[:2]) == b"\0\0" for frame in self._waiting)
        if in_flight > MOST_IN_FLIGHT:
            self._say(f"{in_flight} Produce requests in flight")
        topics = self._rules.topics
        for sent, answered in zip(request.topic_data, response.responses, strict=True):
            topic = topics.by_name.get(sent.name) or topics.by_id.get(sent.topic_id)
            for part, row in zip(sent.partition_data, answered.partition_responses, strict=True):
                if topic is None or part.index >= len(topic.partitions):
                    continue
                partition = topic.partitions[part.index]
                if self._node_id not in partition.led_by:
                    self._say(f"records for {topic.name}[{part.index}], which this broker has never led")
                if row.error_code or part.records is None or len(part.records) < SIZE:
                    continue
                header = Header(part.records)
                wrong = self._rules.appended(topic.name, part.index, header) if header.producer_id >= 0 else None
                if wrong is not None:
                    self._say(
                        f"producer {header.producer_id} epoch {header.producer_epoch}, "
                        f"{topic.name}[{part.index}]: {wrong}"
                    )
