"""Streams groups (KIP-1071) on a real Apache Kafka: a member of our own, then `kcli groups` on its group."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable
from typing import Any

import kcli
from kcli import codes
from kcli.model import Group
from kcli.proto.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
)
from tests.kafka.cluster import Kafka
from tests.programs import kcli as run


def topology(group: str, source: str) -> Topology:
    """Words counted by a key that is not the record's: one repartition topic, one changelog."""
    first = Subtopology(
        subtopology_id="0", source_topics=[source], repartition_sink_topics=[f"{group}-count-repartition"]
    )
    second = Subtopology(
        subtopology_id="1",
        repartition_source_topics=[TopicInfo(name=f"{group}-count-repartition", partitions=2)],
        state_changelog_topics=[TopicInfo(name=f"{group}-count-changelog")],
    )
    return Topology(epoch=0, subtopologies=[first, second])


class StreamsMember:
    """One streams client, as far as the coordinator sees it."""

    def __init__(self, client: kcli.Client, group: str, source: str) -> None:
        self._client, self._group, self._source = client, group, source
        self._id, self._process, self.epoch = str(uuid.uuid4()), str(uuid.uuid4()), 0
        self.tasks: dict[str, list[int]] = {}

    async def beat(self, epoch: int) -> StreamsGroupHeartbeatResponse:
        joins = epoch == 0
        owned = [TaskIds(subtopology_id=name, partitions=some) for name, some in self.tasks.items()]
        request = StreamsGroupHeartbeatRequest(
            group_id=self._group,
            member_id=self._id,
            member_epoch=epoch,
            rebalance_timeout_ms=30_000 if joins else -1,
            topology=topology(self._group, self._source) if joins else None,
            active_tasks=[] if joins else owned,
            standby_tasks=[],
            warmup_tasks=[],
            process_id=self._process if joins else None,
        )
        cluster = self._client.cluster
        async with asyncio.timeout(30):
            while True:  # a coordinator of a fresh cluster has to be elected and to load first
                answer = await (await cluster.coordinator(Group(self._group))).ask(request)
                if not codes.of(answer.error_code).retriable:
                    break
                cluster.coordinator_moved(Group(self._group))
                await asyncio.sleep(0.2)
        assert answer.error_code == 0, answer
        self.epoch = answer.member_epoch
        return answer

    async def join(self) -> None:
        """Until it owns all four tasks."""
        answer = await self.beat(0)
        async with asyncio.timeout(60):
            while sum(map(len, self.tasks.values())) < 4:
                await asyncio.sleep(0.5)
                answer = await self.beat(self.epoch)
                if answer.active_tasks is not None:
                    self.tasks = {task.subtopology_id: task.partitions for task in answer.active_tasks}
        await self.beat(self.epoch)  # says that it owns them


def rows(kafka: Kafka, section: str, *words: str) -> list[dict[str, Any]]:
    done = run(*words, "-J", "-b", kafka.bootstrap)
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = json.loads(done.out)[section]
    return found


def topics(kafka: Kafka, group: str) -> set[str]:
    return {row["topic"] for row in rows(kafka, "topics", "topics", "list") if row["topic"].startswith(f"{group}-")}


def test_a_streams_group_is_listed_described_and_deleted_with_its_internal_topics(
    kafka: Kafka, topic_name: Callable[[], str]
) -> None:
    source, group = topic_name(), f"wordcount-{uuid.uuid4().hex[:8]}"
    inner = [f"{group}-count-changelog", f"{group}-count-repartition"]
    assert run("topics", "create", source, "-p", "2", "-b", kafka.bootstrap).code == 0

    async def scene() -> None:
        async with kcli.Client(kafka.bootstrap) as client:
            member = StreamsMember(client, group, source)
            await member.join()
            await asyncio.to_thread(while_it_runs)
            await member.beat(-1)

    def while_it_runs() -> None:
        (listed,) = [row for row in rows(kafka, "groups", "groups", "list") if row["group"] == group]
        assert (listed["type"], listed["state"]) == ("streams", "Stable")
        (described,) = rows(kafka, "groups", "groups", "describe", group)
        assert (described["type"], described["members"], described["internal_topics"]) == ("streams", 1, inner)
        first, second = rows(kafka, "subtopologies", "streams", "describe", group)
        assert (first["sources"], first["sinks"], first["tasks"]) == ([source], [inner[1]], ["0_0", "0_1"])
        assert (second["repartitions"], second["changelogs"]) == ([inner[1]], [inner[0]])
        running = run("streams", "reset", group, "--input-topic", source, "--execute", "-b", kafka.bootstrap)
        assert running.code == 1
        assert "the group is Stable with 1 member" in running.err
        forced = run("streams", "reset", group, "--input-topic", source, "--force", "--execute", "-b", kafka.bootstrap)
        assert forced.code == 1
        assert "Kafka removes members of classic and consumer groups only" in forced.err
        (member,) = rows(kafka, "members", "groups", "members", group)
        assert member["tasks"] == ["0_0", "0_1", "1_0", "1_1"]
        assert set(member["assignment"]) == {f"{name}:{n}" for name in (source, inner[1]) for n in (0, 1)}
        refused = run("groups", "delete", group, "--delete-internal-topics", "--execute", "-b", kafka.bootstrap)
        assert refused.code == 1
        assert "the group has 1 member" in refused.err
        assert topics(kafka, group) == set(inner)

    asyncio.run(scene())
    plan = run("groups", "delete", group, "--dry-run", "--no-undo", "-b", kafka.bootstrap)
    assert "2 internal topics stay; --delete-internal-topics deletes them, too" in plan.err
    lost = run("groups", "delete", group, "--delete-internal-topics", "--dry-run", "-b", kafka.bootstrap)
    assert "2 internal topics with all records cannot be restored" in lost.err
    (row,) = rows(kafka, "groups", "groups", "delete", group, "--delete-all-internal-topics", "--execute", "--no-undo")
    assert (row["result"], row["internal_topics"], row["error"]) == ("deleted", inner, None)
    assert not [row for row in rows(kafka, "groups", "groups", "list") if row["group"] == group]
    deadline = time.monotonic() + 30
    while topics(kafka, group):
        assert time.monotonic() < deadline, "the topics stay"
