"""KRaft controllers asked directly (KIP-919), and what Kafka 4.4 brought, beside Kafka's own tools."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from typing import Any

from kcli import codes
from kcli.admin.cluster.brokers import level_name, level_of
from kcli.client import Client
from kcli.model import GroupMetadata, OffsetAndMetadata, TopicPartition
from kcli.proto.messages import api_name, request_type
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from tests.kafka.cluster import Kafka
from tests.programs import kcli


def controllers(kafka: Kafka, *nodes: int) -> str:
    return ",".join(f"127.0.0.1:{n.controller_port}" for n in kafka.nodes if not nodes or n.id in nodes)


def asked(kafka: Kafka, section: str, *words: str, code: int = 0, nodes: tuple[int, ...] = ()) -> list[dict[str, Any]]:
    """The rows that a command prints about controllers."""
    done = kcli(*words, "--bootstrap-controller", controllers(kafka, *nodes), "-J")
    assert done.code == code, done.err
    found: list[dict[str, Any]] = json.loads(done.out)[section]
    return found


def test_the_quorum_is_described_by_any_controller_as_kafkas_own_tool_does(kafka3: Kafka) -> None:
    for node in (1, 2, 3):  # two of them are not the leader, and would refuse the question
        (quorum,) = asked(kafka3, "quorum", "cluster", "quorum", nodes=(node,))
        theirs = kafka3.tool(
            "org.apache.kafka.tools.MetadataQuorumCommand", "--bootstrap-controller", controllers(kafka3, node),
            "describe", "--status",
        )  # fmt: skip
        assert int(re.findall(r"LeaderId:\s+(\d+)", theirs)[0]) == quorum["leader"]
        assert int(re.findall(r"LeaderEpoch:\s+(\d+)", theirs)[0]) == quorum["epoch"]
    assert [row["node"] for row in asked(kafka3, "voters", "cluster", "voters")] == [1, 2, 3]


def test_levels_have_the_names_that_kafkas_own_tool_prints(kafka3: Kafka) -> None:
    found = {row["feature"]: row for row in asked(kafka3, "features", "cluster", "features")}
    theirs = kafka3.tool(
        "org.apache.kafka.tools.FeatureCommand", "--bootstrap-controller", controllers(kafka3), "describe"
    )
    line = next(line for line in theirs.splitlines() if "metadata.version" in line)
    lowest, highest, level = re.findall(
        r"(?:SupportedMinVersion|SupportedMaxVersion|FinalizedVersionLevel): (\S+)", line
    )
    ours = found["metadata.version"]
    assert (ours["highest_version"], ours["version"]) == (highest, level)
    assert level_name("metadata.version", ours["lowest"]) == lowest
    assert (level_of(lowest), level_of(highest)) == (ours["lowest"], ours["highest"])
    assert found["transaction.version"]["version"] is None


def test_a_level_may_be_named_and_the_controller_judges_it(kafka3: Kafka) -> None:
    (row,) = asked(
        kafka3, "features", "cluster", "features", "set", "metadata.version=4.4-IV1", "--dry-run", code=1, nodes=(2,)
    )
    assert (row["old_version"], row["new_version"], row["action"]) == ("4.4-IV2", "4.4-IV1", "downgrade")
    assert "Unsupported metadata.version downgrade" in row["error"]
    unknown = kcli("cluster", "features", "set", "metadata.version=4.4-IV9", "--bootstrap-controller", "127.0.0.1:1")
    assert unknown.code == 2
    assert "a whole number, or a name such as 4.4-IV2" in unknown.err


def test_the_apis_of_controllers_have_names(kafka3: Kafka) -> None:
    rows = asked(kafka3, "apis", "brokers", "versions")
    assert {row["broker"] for row in rows} == {1, 2, 3}
    assert {"Vote", "BrokerHeartbeat", "ControllerRegistration", "UnregisterController"} <= {row["api"] for row in rows}
    brokers = json.loads(kcli("brokers", "versions", "1", "-b", kafka3.bootstrap, "-J").out)["apis"]
    assert {"InitializeShareGroupState", "StreamsGroupTopologyDescriptionUpdate"} <= {row["api"] for row in brokers}
    assert not [row for row in rows + brokers if re.fullmatch(r"API \d+", row["api"])]


def test_configs_are_changed_at_a_controller_also_those_of_a_broker(kafka3: Kafka) -> None:
    for name in ("default", "2"):
        for node in (1, 2, 3):
            (row,) = asked(
                kafka3, "configs", "configs", "set", "broker", name, f"log.cleaner.backoff.ms={14000 + node}",
                "--execute", nodes=(node,),
            )  # fmt: skip
            assert row["result"] == "done", row
        (now,) = asked(kafka3, "configs", "configs", "get", "broker", name, "log.cleaner.backoff.ms")
        assert (now["value"], now["source"]) == ("14003", "all brokers" if name == "default" else "broker")
        (gone,) = asked(
            kafka3, "configs", "configs", "unset", "broker", name, "log.cleaner.backoff.ms", "--execute"
        )  # fmt: skip
        assert gone["result"] == "done"


def test_the_next_active_controller_is_found(kafka3: Kafka) -> None:
    """Also from the addresses of all, of which one answers no more."""
    (before,) = asked(kafka3, "quorum", "cluster", "quorum")
    leader = kafka3.nodes[before["leader"] - 1]
    leader.kill(signal.SIGKILL)
    (after,) = asked(kafka3, "quorum", "cluster", "quorum")
    assert after["leader"] != before["leader"]
    assert after["epoch"] > before["epoch"]


def test_a_broker_named_as_a_controller_and_the_reverse_are_explained(kafka3: Kafka) -> None:
    wrong = kcli("cluster", "quorum", "--bootstrap-controller", kafka3.bootstrap)
    assert wrong.code == 1
    assert "MISMATCHED_ENDPOINT_TYPE" in wrong.err
    reverse = kcli("topics", "list", "-b", controllers(kafka3))
    assert reverse.code == 1
    assert "is a KRaft controller" in reverse.err
    assert "--bootstrap-controller" in reverse.err
    both = kcli("cluster", "quorum", "-b", kafka3.bootstrap, "--bootstrap-controller", controllers(kafka3))
    assert both.code == 2
    doctor = kcli("doctor", "-b", controllers(kafka3), "-J")
    assert doctor.code == 5
    assert {step["fault"] for step in json.loads(doctor.out)["steps"] if step["status"] == "failed"} == {"controller"}


def test_controllers_are_unregistered(kafka3: Kafka) -> None:
    (quorum,) = asked(kafka3, "quorum", "cluster", "quorum")
    voter, leader = str(quorum["leader"] % 3 + 1), str(quorum["leader"])
    (missing,) = asked(kafka3, "brokers", "cluster", "unregister", "--controller", "9", "--execute", code=1)
    assert "CONTROLLER_ID_NOT_REGISTERED" in missing["error"]
    (votes,) = asked(kafka3, "brokers", "cluster", "unregister", "--controller", voter, "--execute", code=1)
    assert votes["state"] == "voter"
    assert "is a voter of the quorum" in votes["error"]
    done = kcli("cluster", "unregister", "--controller", voter, "--force", "--execute", "-b", kafka3.bootstrap, "-J")
    assert [row["result"] for row in json.loads(done.out)["brokers"]] == ["done"]
    (active,) = asked(
        kafka3, "brokers", "cluster", "unregister", "--controller", leader, "--force", "--execute", code=1
    )
    assert active["state"] == "leader"
    assert "cannot unregister itself while it is active" in active["error"]


# -- what Kafka 4.4 brought --------------------------------------------------------------------------------------------


def test_a_cordoned_log_directory_is_named_in_the_table(kafka: Kafka) -> None:
    folder = str(kafka.nodes[0].folder / "data")
    words = ("configs", "set", "broker", "1", f"cordoned.log.dirs={folder}", "--execute", "-b", kafka.bootstrap)
    assert kcli(*words).code == 0
    try:
        table = kcli("logdirs", "-b", kafka.bootstrap, "--format", "table").out.decode()
        (row,) = json.loads(kcli("logdirs", "-b", kafka.bootstrap, "-J").out)["directories"]
    finally:
        assert (
            kcli("configs", "unset", "broker", "1", "cordoned.log.dirs", "--execute", "-b", kafka.bootstrap).code == 0
        )
    assert "CORDONED" in table
    assert row["cordoned"] is True
    assert "CORDONED" not in kcli("logdirs", "-b", kafka.bootstrap, "--format", "table").out.decode()


def committed(kafka: Kafka, group: str) -> dict[str, int]:
    done = kcli("groups", "describe", group, "-b", kafka.bootstrap, "-J")
    assert done.code == 0, done.err
    return {row["topic"]: row["committed"] for row in json.loads(done.out)["partitions"]}


async def test_a_transaction_commits_offsets_by_the_ids_of_topics(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    """TxnOffsetCommit 6 (KIP-1319): the group's offsets are there, and a topic that was created again meanwhile gets
    them too."""
    first, second, group = topic_name(), topic_name(), topic_name()
    for name in (first, second):
        assert kcli("topics", "create", name, "-p", "1", "-r", "1", "-b", kafka.bootstrap).code == 0
    settings = ClientSettings(bootstrap=parse_bootstrap(kafka.bootstrap))
    async with Client(settings) as one, one.producer(ProducerSettings(transactional_id=group)) as producer:
        version = (await (await one.cluster.anyone()).versions())[28][1]
        assert version == 6
        for offset in (3, 5):
            async with producer.transaction() as transaction:
                await producer.send_and_wait(first, b"v")
                await transaction.send_offsets(
                    {TopicPartition(name, 0): OffsetAndMetadata(offset) for name in (first, second)},
                    GroupMetadata(group),
                )
            assert committed(kafka, group) == {first: offset, second: offset}
            assert kcli("topics", "delete", second, "--execute", "-b", kafka.bootstrap).code == 0
            assert kcli("topics", "create", second, "-p", "1", "-r", "1", "-b", kafka.bootstrap).code == 0


def test_every_name_of_an_api_is_kafkas(kafka: Kafka) -> None:
    """What `kafka-broker-api-versions` prints."""
    theirs = kafka.tool("org.apache.kafka.tools.BrokerApiVersionsCommand", "--bootstrap-server", kafka.bootstrap)
    found = {int(key): name for name, key in re.findall(r"^\s*(\w+)\((\d+)\):", theirs, re.MULTILINE)}
    assert len(found) > 60
    assert {key: api_name(key) for key in found} == found
    assert request_type(94) is not None
    assert codes.of(136).name == "CONTROLLER_ID_NOT_REGISTERED"
