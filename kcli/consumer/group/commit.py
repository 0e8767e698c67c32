"""A group's committed offsets: committed in order, fetched with retries until the result is certain.

Commits are sent one after another, so an older one never overtakes a newer one. A failed OffsetFetch is retried and
never taken for "no commit"; offsets that an open transaction may still change are waited for.
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.backoff import repeat
from kcli.consumer.group.states import FIND, PROCEED, RETRY
from kcli.errors import BrokerError, ConnectError, DeadlineExceeded, KcliError
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.proto.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kcli.proto.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kcli.proto.schema import NO_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Protocol

    from kcli.consumer.group.coordinator import Coordinator
    from kcli.consumer.group.states import Identity
    from kcli.model import Cluster
    from kcli.proto.messages.offset_commit import OffsetCommitResponse
    from kcli.proto.messages.offset_fetch import OffsetFetchResponse

    Found = dict[TopicPartition, OffsetAndMetadata | None]

    class Member(Protocol):
        """The interface of every kind of membership. `generation` is -1 without one; `identity` is for commits,
        `reader` for fetching offsets."""

        state: str
        generation: int
        member_id: str
        error: BaseException | None

        @property
        def identity(self) -> Identity: ...
        @property
        def reader(self) -> Identity | None: ...
        @property
        def rejoining(self) -> bool: ...
        def committed(self, number: int, asked: Identity) -> str:
            """Handle the error `number` of a commit; return the next step."""
            ...

        def fetched(self, number: int, asked: Identity | None) -> str:
            """Handle the error `number` of an OffsetFetch; return the next step."""
            ...

        def polled(self, now: float) -> None: ...
        def deadline(self) -> float | None:
            """When `tick` next has something due."""
            ...

        def tick(self, now: float) -> str | None:
            """Return what is due: "heartbeat", "away", another word of the kind, or None."""
            ...

        def fail(self, error: BaseException) -> None: ...
        def close(self) -> None: ...


OFFSET_COMMIT, OFFSET_FETCH = 8, 9


class Offsets:
    """Fetches and commits the offsets of one group. `changed` is called if the response to a commit changed the
    membership."""

    def __init__(
        self,
        cluster: Cluster,
        coordinator: Coordinator,
        member: Member,
        instance_id: str | None,
        changed: Callable[[], None],
    ) -> None:
        self._cluster = cluster
        self._coordinator = coordinator
        self._member = member
        self._instance_id = instance_id
        self._changed = changed
        self._turn = asyncio.Lock()
        self.written: dict[TopicPartition, OffsetAndMetadata] = {}  # as last acknowledged

    @property
    def busy(self) -> bool:
        """Whether a commit is in progress."""
        return self._turn.locked()

    async def settled(self, deadline: float) -> None:
        """Return when the commits in progress are answered, or at the deadline."""
        try:
            async with asyncio.timeout_at(deadline), self._turn:
                return
        except TimeoutError:
            return  # the caller gets the error

    async def write(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        deadline: float,
        check: Callable[[Iterable[TopicPartition]], None] | None = None,
    ) -> None:
        """Commit, with retries until `deadline` (loop time); `check` may refuse before each attempt.

        Raises BrokerError with the first code that a retry cannot fix, else the last failure. Its `sent` is True if an
        attempt was not answered and may have been executed.
        """
        left = dict(offsets)
        problem: KcliError = DeadlineExceeded(f"{self._coordinator.group}: there was no time left to commit")
        unsure = asking = False

        async def once() -> bool:
            nonlocal left, problem, unsure, asking
            try:
                if check is not None:
                    check(left)
                asking = True
                left, trouble = await self._write_once(left)
            except BrokerError as error:
                raise _doubtful(error) if unsure else error from None
            except (ConnectError, DeadlineExceeded) as error:
                if not error.retriable:
                    raise
                trouble = error
            asking = False
            problem = trouble or problem
            unsure |= _may_be_done(problem)
            return not left

        try:
            async with asyncio.timeout_at(deadline), self._turn:
                await repeat(once, self._coordinator.pauses())
                self.written.update(offsets)
        except TimeoutError:
            if isinstance(problem, ConnectError | DeadlineExceeded | BrokerError):
                problem.sent = unsure or asking
            raise problem from None

    async def _write_once(
        self, offsets: dict[TopicPartition, OffsetAndMetadata]
    ) -> tuple[dict[TopicPartition, OffsetAndMetadata], KcliError | None]:
        """Send a commit. Return the offsets that have to be sent again, and the reason."""
        await self._know_ids(offsets)
        asked = self._member.identity
        topics = self._topics(offsets)
        response = await self._coordinator.ask(self._request(asked, topics))
        again: dict[TopicPartition, OffsetAndMetadata] = {}
        final: BrokerError | None = None
        problem: BrokerError | None = None
        moved = False
        stale: set[str] = set()  # topics whose cached ids may be of deleted topics
        for at, number in self._errors(response, {topic.topic_id: topic.name for topic in topics}):
            if at not in offsets:
                continue
            code = codes.of(number)
            step = self._member.committed(number, asked)
            if step in (RETRY, FIND):
                moved |= step == FIND
                again[at] = offsets[at]
                if code in (codes.UNKNOWN_TOPIC_ID, codes.UNKNOWN_TOPIC_OR_PARTITION):
                    stale.add(at.topic)
                problem = self._error(code, at)
            elif step != PROCEED:
                final = final or self._error(code, at)
        self._changed()
        if moved:
            self._coordinator.moved()
        if final is not None:
            raise final
        if stale:
            await self._cluster.refresh(sorted(stale))
        return again, problem

    def _request(self, asked: Identity, topics: list[OffsetCommitRequestTopic]) -> OffsetCommitRequest:
        return OffsetCommitRequest(
            group_id=self._coordinator.group,
            generation_id_or_member_epoch=asked.generation,
            member_id=asked.member_id if asked.generation >= 0 else "",
            group_instance_id=self._instance_id if asked.generation >= 0 else None,
            topics=topics,
        )

    def _topics(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> list[OffsetCommitRequestTopic]:
        """Return the offsets in the form of the request."""
        topics: dict[str, OffsetCommitRequestTopic] = {}
        for at, offset in offsets.items():
            topic = topics.setdefault(
                at.topic, OffsetCommitRequestTopic(name=at.topic, topic_id=self._cluster.topic_id(at.topic))
            )
            topic.partitions.append(
                OffsetCommitRequestPartition(
                    partition_index=at.partition,
                    committed_offset=offset.offset,
                    committed_leader_epoch=offset.leader_epoch,
                    committed_metadata=offset.metadata,
                )
            )
        return list(topics.values())

    def _errors(self, response: OffsetCommitResponse, names: dict[bytes, str]) -> Iterable[tuple[TopicPartition, int]]:
        for topic in response.topics:
            name = topic.name or names.get(topic.topic_id, "")
            for partition in topic.partitions:
                yield TopicPartition(name, partition.partition_index), partition.error_code

    async def read(self, wanted: Iterable[TopicPartition], deadline: float) -> Found:
        """Fetch the committed offsets, None for a partition without one. Retries until `deadline`; raises the last
        failure."""
        offsets: Found = {}
        left = set(wanted)
        problem: KcliError = DeadlineExceeded(f"{self._coordinator.group}: there was no time left to read offsets")

        async def once() -> bool:
            nonlocal problem
            try:
                answered, trouble = await self._read_once(left)
                offsets.update(answered)
                left.difference_update(answered)
                problem = trouble or problem
            except KcliError as error:
                if not error.retriable:
                    raise
                problem = error
            return not left

        try:
            async with asyncio.timeout_at(deadline):
                await repeat(once, self._coordinator.pauses())
        except TimeoutError:
            raise problem from None
        return offsets

    async def _read_once(self, wanted: set[TopicPartition]) -> tuple[Found, BrokerError | None]:
        """Fetch offsets once. Return the answered ones, and the error of the rest."""
        await self._know_ids(wanted)
        asked = self._member.reader
        names: dict[str, list[int]] = {}
        for at in sorted(wanted):
            names.setdefault(at.topic, []).append(at.partition)

        def build(version: int) -> OffsetFetchRequest:
            version = min(version, OffsetFetchRequest.versions.last)
            if version < 8:
                topics = [OffsetFetchRequestTopic(name=name, partition_indexes=own) for name, own in names.items()]
                return OffsetFetchRequest(group_id=self._coordinator.group, topics=topics, require_stable=version >= 7)
            grouped = [
                OffsetFetchRequestTopics(name=name, topic_id=self._cluster.topic_id(name), partition_indexes=own)
                for name, own in names.items()
            ]
            group = OffsetFetchRequestGroup(group_id=self._coordinator.group, topics=grouped)
            if asked is not None and version >= 9:  # E60
                group.member_id, group.member_epoch = asked.member_id, asked.generation
            return OffsetFetchRequest(groups=[group], require_stable=True)

        answer = await self._coordinator.ask_version(build, OFFSET_FETCH)
        ids = {self._cluster.topic_id(name): name for name in names}
        offsets: Found = {}
        problem: BrokerError | None = None
        for place, number, offset in _fetched(answer, ids):
            code = codes.of(number)
            if code:
                group = self._coordinator.group
                about, topic = (group, "") if place is None else (f"{place.topic}-{place.partition}", place.topic)
                problem = BrokerError(code, about, api=OFFSET_FETCH, group=group, topic=topic)
                step = self._member.fetched(number, asked)
                if step == FIND:
                    self._coordinator.moved()
                elif step != RETRY:
                    raise problem
            elif place is not None and place in wanted:
                offsets[place] = offset if offset.offset >= 0 else None
        return offsets, problem

    def _error(self, code: codes.ErrorCode, at: TopicPartition) -> BrokerError:
        group = self._coordinator.group
        return BrokerError(code, f"{group}, {at.topic}-{at.partition}", api=OFFSET_COMMIT, group=group, topic=at.topic)

    async def _know_ids(self, partitions: Iterable[TopicPartition]) -> None:
        """Look up the topic ids, which version 10 of both requests uses instead of names."""
        unknown = sorted({at.topic for at in partitions if self._cluster.topic_id(at.topic) == NO_ID})
        if unknown:
            await self._cluster.refresh(unknown)


def _may_be_done(trouble: KcliError) -> bool:
    """Whether a commit that failed in this way may have been executed: the response was lost, or was sent before the
    replicas had the commit, or while the coordinator moved."""
    if isinstance(trouble, BrokerError):
        return trouble.code in (codes.REQUEST_TIMED_OUT, codes.COORDINATOR_NOT_AVAILABLE, codes.NOT_COORDINATOR)
    return isinstance(trouble, ConnectError | DeadlineExceeded) and trouble.sent


def _doubtful(refused: BrokerError) -> BrokerError:
    """Mark an error after an unanswered attempt: that attempt may have been executed."""
    about = "an earlier attempt got no response, so the commit may have succeeded"
    error = BrokerError(refused.code, refused.about, f"{refused.code.text}; {about}")
    error.sent = True
    return error


def _fetched(
    answer: OffsetFetchResponse, names: dict[bytes, str]
) -> Iterable[tuple[TopicPartition | None, int, OffsetAndMetadata]]:
    """Return partition, error and offset from both forms of the response; an error of the whole response has no
    partition."""
    nothing = OffsetAndMetadata(-1)
    if answer.error_code:
        yield None, answer.error_code, nothing
    for topic in answer.topics:
        for partition in topic.partitions:
            place = OffsetAndMetadata(
                partition.committed_offset, partition.committed_leader_epoch, partition.metadata or ""
            )
            yield TopicPartition(topic.name, partition.partition_index), partition.error_code, place
    for group in answer.groups:
        if group.error_code:
            yield None, group.error_code, nothing
        for grouped in group.topics:
            name = grouped.name or names.get(grouped.topic_id, "")
            for each in grouped.partitions:
                place = OffsetAndMetadata(each.committed_offset, each.committed_leader_epoch, each.metadata or "")
                yield TopicPartition(name, each.partition_index), each.error_code, place
