"""Streams groups (KIP-1071) on a real Apache Kafka: a member of our own, then `kcli groups` on its group."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

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
from kcli.proto.schema import Int8, Int16, Int32, Request, Response, Struct, at
from tests.kafka.artifacts import libs
from tests.kafka.cluster import Kafka, Node
from tests.programs import kcli as run

PLUGIN = Path(__file__).parents[1] / "StoredTopologies.java"


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
        self.id, self._process, self.epoch = str(uuid.uuid4()), str(uuid.uuid4()), 0
        self.tasks: dict[str, list[int]] = {}

    async def beat(self, epoch: int) -> StreamsGroupHeartbeatResponse:
        joins = epoch == 0
        owned = [TaskIds(subtopology_id=name, partitions=some) for name, some in self.tasks.items()]
        request = StreamsGroupHeartbeatRequest(
            group_id=self._group,
            member_id=self.id,
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


# -- descriptions of topologies (KIP-1331), which applications send and a plugin of the broker stores -----------------


class ProcessingNode(Struct):
    name: str = ""
    node_type: Int8 = 0
    source_topics: list[str] = at(factory=list)
    sink_topic: str | None = at(null="0+", default=None)
    stores: list[str] = at(factory=list)
    successors: list[str] = at(factory=list)


class Part(Struct):
    subtopology_id: str = ""
    nodes: list[ProcessingNode] = at(factory=list)


class GlobalStore(Struct):
    source: ProcessingNode = at(factory=ProcessingNode)
    processor: ProcessingNode = at(factory=ProcessingNode)


class Description(Struct):
    subtopologies: list[Part] = at(factory=list)
    global_stores: list[GlobalStore] = at(factory=list)


class UpdateRequest(Request["UpdateResponse"], key=93, versions="0", flexible="0+"):
    """StreamsGroupTopologyDescriptionUpdate."""

    group_id: str = ""
    member_id: str = ""
    topology_epoch: Int32 = 0
    topology_description: Description = at(factory=Description)


class UpdateResponse(Response, key=93, versions="0", flexible="0+"):
    """The answer to UpdateRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)


class Storing(Kafka):
    """A cluster with the plugin, whose class is not on the path of the tool that formats its folders."""

    def _format(self, node: Node) -> None:
        super()._format(node)
        with (node.folder / "server.properties").open("a") as settings:
            settings.write("group.streams.topology.description.plugin.class=StoredTopologies\n")


@pytest.fixture(scope="module")
def storing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """One node that stores descriptions."""
    folder = tmp_path_factory.mktemp("topologies")
    subprocess.run(["javac", "-cp", f"{libs()}/*", "-d", str(folder), str(PLUGIN)], check=True, timeout=120)
    cluster = Storing()
    cluster.nodes[0].classpath = f":{folder}"
    cluster.start()
    yield cluster
    cluster.stop()


def description(group: str, source: str) -> Description:
    """Of the topology above, and of a global store beside it."""
    inner = f"{group}-count-repartition"
    return Description(
        subtopologies=[
            Part(
                subtopology_id="0",
                nodes=[
                    ProcessingNode(name="read", node_type=1, source_topics=[source], successors=["by-word"]),
                    ProcessingNode(name="by-word", node_type=2, successors=["again", "split"]),
                    ProcessingNode(name="again", node_type=3, sink_topic=None),
                    ProcessingNode(name="split", node_type=3, sink_topic=inner),
                ],
            ),
            Part(
                subtopology_id="1",
                nodes=[
                    ProcessingNode(name="words", node_type=1, source_topics=[inner], successors=["count"]),
                    ProcessingNode(name="count", node_type=2, stores=["totals", "counts"]),
                ],
            ),
        ],
        global_stores=[
            GlobalStore(
                source=ProcessingNode(name="rates", node_type=1, source_topics=[source], successors=["rates-store"]),
                processor=ProcessingNode(name="rates-store", node_type=2, stores=["rates"]),
            )
        ],
    )


def theirs(kafka: Kafka, group: str) -> set[tuple[str, ...]]:
    """Kind, name, topics or stores, and successors of each node, as kafka-streams-groups prints them."""
    told = kafka.tool(
        "org.apache.kafka.tools.streams.StreamsGroupCommand",
        *("--bootstrap-server", kafka.bootstrap, "--describe", "--topology", "--group", group),
    )
    found = re.findall(r"(Source|Processor|Sink): (\S+) \((?:topics?|stores): (.*)\)(?:\s+--> (.*))?", told)
    assert found, told
    return {
        (
            kind.lower(),
            name,
            *(" ".join(sorted({*re.findall(r"[\w.-]+", text)} - {"none", "null"})) for text in rest),
        )
        for kind, name, *rest in found
    }


@pytest.mark.needs("javac")
def test_the_nodes_of_a_topology_are_those_that_kafkas_own_tool_shows(
    storing: Kafka, topic_name: Callable[[], str]
) -> None:
    source, group = topic_name(), f"wordcount-{uuid.uuid4().hex[:8]}"
    unread = f"unread-{group}"
    there = ("-b", storing.bootstrap)
    assert run("topics", "create", source, "-p", "2", *there).code == 0

    async def scene() -> None:
        async with kcli.Client(storing.bootstrap) as client:
            for name in (group, unread):
                member = StreamsMember(client, name, source)
                await member.join()
                (before,) = await asyncio.to_thread(rows, storing, "applications", "streams", "describe", name)
                assert (before["nodes"], before["error"]) == (None, None)
                broker = await client.cluster.coordinator(Group(name))
                update = UpdateRequest(
                    group_id=name, member_id=member.id, topology_description=description(name, source)
                )
                answer = await broker.ask(update)
                assert answer.error_code == 0, answer
            await asyncio.to_thread(while_it_runs)

    def while_it_runs() -> None:
        (application,) = rows(storing, "applications", "streams", "describe", group)
        assert (application["nodes"], application["assignor"]) == (8, "sticky")
        nodes = rows(storing, "nodes", "streams", "describe", group)
        ours = {
            (row["kind"], row["node"], " ".join(row["topics"] or row["stores"]), " ".join(row["successors"]))
            for row in nodes
        }
        assert ours == theirs(storing, group)
        assert [row["subtopology"] for row in nodes] == ["0"] * 4 + ["1"] * 2 + [None] * 2
        lost = run("streams", "describe", unread, *there)
        assert lost.code == 1
        assert f"{unread}: the broker cannot read the description of the topology" in lost.err

    asyncio.run(scene())
