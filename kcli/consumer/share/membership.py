"""A share group member's life as a state machine: answers and the time go in, what to do next comes out. No I/O.

    OUT → (epoch 0 answered) STABLE → (fenced) OUT …
Nothing has to be given up first: a partition may be with many members at once, and what was acquired stays so.
"""

from __future__ import annotations

from kcli import codes
from kcli.consumer.group.heartbeats import FIRST_INTERVAL, JOIN, LEAVE, new_member_id
from kcli.consumer.group.states import CLOSED, FAILED, FATAL, FIND, LOST, OUT, PROCEED, RETRY, STABLE
from kcli.errors import BrokerError
from kcli.proto.messages.share_group_heartbeat import ShareGroupHeartbeatRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.codes import ErrorCode
    from kcli.proto.messages.share_group_heartbeat import ShareGroupHeartbeatResponse

    Place = tuple[bytes, int]  # topic id, partition

FIRST_LOOK = 0.2
"""Seconds: a member without partitions asks again soon, then less and less often. A new group's partitions are set up
only after its first member came, and come with the heartbeat after that."""

_ANSWERS = {
    "COORDINATOR_LOAD_IN_PROGRESS": RETRY,
    "COORDINATOR_NOT_AVAILABLE": FIND,
    "NOT_COORDINATOR": FIND,
    "FENCED_MEMBER_EPOCH": LOST,
    "UNKNOWN_MEMBER_ID": LOST,
}


class ShareMembership:
    """One member. Times are seconds of any clock that only goes forward. `target` is what the coordinator gives."""

    def __init__(self, group: str, rack: str, now: float) -> None:
        self._group = group
        self._rack = rack
        self.state = OUT
        self.member_id = new_member_id()  # kept for the process's life: what was acquired is under it
        self.epoch = -1
        self.target: frozenset[Place] = frozenset()
        self.error: BaseException | None = None
        self.interval = FIRST_INTERVAL
        self.next_heartbeat = now
        self._looks = 0  # heartbeats that were answered with nothing to read
        self._topics: list[str] = []
        self._known: list[str] | None = None  # the topics that the coordinator knows we want; None: tell all (E56)

    def subscribe(self, topics: Iterable[str], now: float) -> None:
        """To these and no others; told at once."""
        self._topics = sorted(set(topics))
        self.next_heartbeat = now

    def request(self) -> ShareGroupHeartbeatRequest:
        """The next heartbeat: everything, or only what changed since the last acknowledged one."""
        request = ShareGroupHeartbeatRequest(
            group_id=self._group, member_id=self.member_id, member_epoch=self.epoch if self.state == STABLE else JOIN
        )
        if self._known is None:
            request.rack_id = self._rack or None
        if self._known != self._topics:
            request.subscribed_topic_names = self._topics
        return request

    def farewell(self) -> ShareGroupHeartbeatRequest:
        return ShareGroupHeartbeatRequest(group_id=self._group, member_id=self.member_id, member_epoch=LEAVE)

    def sent(self, now: float) -> None:
        self.next_heartbeat = now + self.interval

    def unanswered(self, now: float, pause: float) -> None:
        """No response, or a useless one: send a full heartbeat after `pause`."""
        self._known = None
        self.next_heartbeat = now + pause

    def answered(
        self, answer: ShareGroupHeartbeatResponse, request: ShareGroupHeartbeatRequest, now: float, pause: float
    ) -> str:
        """A heartbeat was answered. Returns PROCEED, RETRY, FIND, LOST or FATAL."""
        if self.state not in (OUT, STABLE) or request.member_epoch != (self.epoch if self.state == STABLE else JOIN):
            return PROCEED  # an answer to an earlier identity
        code = codes.of(answer.error_code)
        if code:
            return self._refused(code, answer.error_message, now, pause)
        self.state = STABLE
        self.member_id = answer.member_id or self.member_id
        self.epoch = answer.member_epoch
        if request.subscribed_topic_names is not None:
            self._known = request.subscribed_topic_names
        self.interval = answer.heartbeat_interval_ms / 1000 or self.interval
        if answer.assignment is not None:  # null: no change; empty: nothing (E57)
            self.target = frozenset(
                (bytes(topic.topic_id), partition)
                for topic in answer.assignment.topic_partitions
                for partition in topic.partitions
            )
        self._looks = 0 if self.target else self._looks + 1
        soon = FIRST_LOOK * 2.0 ** min(self._looks - 1, 20) if self._looks else self.interval
        self.next_heartbeat = now if self._known != self._topics else now + min(soon, self.interval)
        return PROCEED

    def _refused(self, code: ErrorCode, message: str | None, now: float, pause: float) -> str:
        step = _ANSWERS.get(code.name) or (RETRY if code.retriable else FATAL)
        if step == LOST:
            wait = pause if self.state == OUT else 0.0  # a fenced member joins again at once; not for ever
            self.state, self.epoch, self.target, self._known = OUT, -1, frozenset(), None
            self.next_heartbeat = now + wait
        elif step == FATAL:
            self.fail(
                BrokerError(
                    code, self._group, message or None, api=ShareGroupHeartbeatRequest.api_key, group=self._group
                )
            )
        else:
            self.unanswered(now, pause)
        return step

    def fail(self, error: BaseException) -> None:
        if self.state != CLOSED:
            self.state, self.epoch, self.target, self.error = FAILED, -1, frozenset(), error

    def close(self) -> None:
        """Nothing that comes in later changes anything."""
        if self.state != FAILED:
            self.state = CLOSED
