"""Reassignments, elections and disks as the administration client asks for them: split, gathered, with every error."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcli import codes
from kcli.admin.cluster.elections import elect_leaders
from kcli.admin.quotas import alter_quotas, entity
from kcli.admin.reassign import assignment_file
from kcli.admin.reassign.reassignments import Ongoing, alter_reassignments, list_reassignments, shares
from kcli.admin.reassign.throttles import moves, wanted
from kcli.admin.storage import LogDir, Replica, ReplicaSize, alter_log_dirs, evened
from kcli.client import Client
from kcli.errors import BrokerError, KcliError
from kcli.model import TopicPartition
from kcli.proto.messages.alter_client_quotas import AlterClientQuotasResponse
from kcli.proto.messages.alter_partition_reassignments import AlterPartitionReassignmentsResponse
from kcli.proto.messages.elect_leaders import ElectLeadersResponse
from kcli.sandbox import Sandbox
from kcli.settings import ClientSettings, parse_bootstrap


def at(partition: int, topic: str = "t") -> TopicPartition:
    return TopicPartition(topic, partition)


async def test_many_partitions_go_in_requests_of_a_thousand() -> None:
    async with (
        Sandbox(brokers=2) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
    ):
        sandbox.topics.create("t", 1001, replication=1)
        targets = {at(n): [2] for n in range(1001)}
        assert set((await alter_reassignments(client.cluster, targets)).values()) == {None}
        assert sandbox.seen[45] == 2
        assert (await elect_leaders(client.cluster, targets)).keys() == targets.keys()
        assert sandbox.seen[43] == 2


async def test_C17_each_partition_has_its_own_error() -> None:
    async with (
        Sandbox(brokers=2, topics={"t": 3}) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
    ):
        done = await alter_reassignments(client.cluster, {at(0): [2, 1], at(1): [9], at(7): [1], at(2): None})
        codes_of = {one: found.code for one, found in done.items() if isinstance(found, BrokerError)}
        assert done[at(0)] is None
        assert codes_of == {
            at(1): codes.INVALID_REPLICA_ASSIGNMENT, at(7): codes.UNKNOWN_TOPIC_OR_PARTITION,
            at(2): codes.NO_REASSIGNMENT_IN_PROGRESS,
        }  # fmt: skip
        moved = await alter_log_dirs(client.cluster, {Replica("t", 0, 1): "/memory/1", Replica("t", 0, 2): "/nowhere"})
        assert moved[Replica("t", 0, 1)] is None
        refused = moved[Replica("t", 0, 2)]
        assert isinstance(refused, BrokerError)
        assert refused.code is codes.LOG_DIR_NOT_FOUND


async def test_what_an_answer_leaves_out_is_an_error_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(cluster: object, request: object, error_codes: object) -> object:
        return {
            "AlterPartitionReassignmentsRequest": AlterPartitionReassignmentsResponse(),
            "ElectLeadersRequest": ElectLeadersResponse(),
            "AlterClientQuotasRequest": AlterClientQuotasResponse(),
        }[type(request).__name__]

    for module in ("reassign.reassignments", "cluster.elections", "quotas"):
        monkeypatch.setattr(f"kcli.admin.{module}.ask_controller", nothing)
    alice = entity({"user": "alice"})
    for problem in (
        (await alter_reassignments(None, {at(0): [1]}))[at(0)],  # type: ignore[arg-type]
        (await elect_leaders(None, [at(0)]))[at(0)],  # type: ignore[arg-type]
        (await alter_quotas(None, {alice: {"producer_byte_rate": 1.0}}))[alice],  # type: ignore[arg-type]
    ):
        assert isinstance(problem, KcliError)
        assert "does not contain" in str(problem)


async def test_a_request_that_is_refused_as_a_whole_is_the_error_of_all() -> None:
    async with (
        Sandbox(brokers=2, topics={"t": 2}) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
    ):
        for api in ("AlterPartitionReassignments", "ElectLeaders"):
            sandbox.faults.error(api, codes.CLUSTER_AUTHORIZATION_FAILED)
        done = [*(await alter_reassignments(client.cluster, {at(0): [2], at(1): [2]})).values()]
        done += (await elect_leaders(client.cluster, [at(0), at(1)])).values()  # type: ignore[arg-type]
        assert [isinstance(one, BrokerError) and one.code for one in done] == [codes.CLUSTER_AUTHORIZATION_FAILED] * 4
        assert await list_reassignments(client.cluster) == {}
        assert await shares(client.cluster, {}) == {}


def test_KIP_73_the_throttle_names_sources_and_destinations_as_kafkas_tool_does() -> None:
    ongoing = {at(5): Ongoing(replicas=[4, 1, 2], adding=[4], removing=[2])}
    found = moves({at(0): [2, 3], at(5): [3, 1]}, {at(0): [1, 2]}, ongoing)
    changes = {(one.kind, one.name): {op.name: op.value for op in some} for one, some in wanted(found, 1000).items()}
    assert changes["topic", "t"] == {
        "leader.replication.throttled.replicas": "0:1,0:2,5:1,5:2",
        "follower.replication.throttled.replicas": "0:3,5:3",
    }
    rates = {"leader.replication.throttled.rate": "1000", "follower.replication.throttled.rate": "1000"}
    assert {name: some for (kind, name), some in changes.items() if kind == "broker"} == dict.fromkeys("123", rates)


def test_a_file_keeps_what_it_says(tmp_path: Path) -> None:
    from json import dumps

    path, dirs = tmp_path / "a.json", {Replica("t", 1, 3): "/data"}
    path.write_text(dumps(assignment_file.document({at(1): [2, 3], at(0, "ü"): [1]}, dirs)))
    assert assignment_file.read(str(path)) == ({at(1): [2, 3], at(0, "ü"): [1]}, dirs)


def place(directory: str, *sizes: int, first: int = 0) -> LogDir:
    some = [ReplicaSize(topic="t", partition=n, broker=1, size=size) for n, size in enumerate(sizes, first)]
    return LogDir(broker=1, directory=directory, replicas=some)


def test_directories_come_to_be_about_as_full_with_few_moves() -> None:
    places = [place("a", 50, 30, 20, 10), place("b", first=10)]
    movable = {Replica("t", n, 1) for n in range(4)}
    found = evened(places, movable)
    moved = sum(size for n, size in enumerate([50, 30, 20, 10]) if Replica("t", n, 1) in found)
    assert abs(110 - 2 * moved) <= 10
    assert len(found) <= 2
    assert set(found.values()) == {"b"}
    assert evened([place("a", 50), place("b", 49, first=1)], {Replica("t", n, 1) for n in range(2)}) == {}
    assert evened(places, set()) == {}
    assert evened([place("a", 100), place("b", first=1)], {Replica("t", 0, 1)}) == {}  # that would only turn them round
