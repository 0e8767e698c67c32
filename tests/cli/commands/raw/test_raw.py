"""`kcli raw` on a sandbox: any request as JSON, to any broker, in any version; the APIs and their fields."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from kcli import codes
from kcli.broker.connection.tracing import Dumping
from kcli.cli.main import main
from kcli.proto.messages import REQUESTS
from kcli.sandbox.thread import SandboxThread
from tests.each import each

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxThread]:
    with SandboxThread(brokers=3, topics={"orders": 2}) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        monkeypatch.setattr(Dumping, "armed", False)
        yield made


def raw(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main(["raw", *words]) == code
    return json.loads(capsys.readouterr().out)


def test_a_request_goes_out_and_its_answer_comes_as_json(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = raw(capsys, "Metadata", '{"topics": [{"name": "orders"}]}')
    assert [one["nodeId"] for one in answer["brokers"]] == [1, 2, 3]
    (topic,) = answer["topics"]
    assert (topic["name"], len(topic["partitions"]), topic["errorCode"]) == ("orders", 2, 0)
    assert len(topic["topicId"]) == 22
    old = raw(capsys, "metadata", '{"topics": [{"name": "orders"}]}', "--api-version", "0")
    assert "topicId" not in old["topics"][0]
    assert "clusterId" not in old
    assert raw(capsys, "3", "--api-version", "1", "--format", "ndjson")["controllerId"] == 1


def test_error_codes_are_said_by_name_and_make_the_exit_code_1(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["Metadata", '{"topics": [{"name": "nope"}], "allowAutoTopicCreation": false}']
    assert main(["raw", *words]) == 1
    said = capsys.readouterr().err
    assert "topics[0].errorCode 3: UNKNOWN_TOPIC_OR_PARTITION" in said
    answer = raw(capsys, *words, "--explain", code=1)
    (topic,) = answer["topics"]
    assert list(topic)[:2] == ["errorCode", "errorName"]
    assert (topic["errorName"], answer["errorName"]) == ("UNKNOWN_TOPIC_OR_PARTITION", "NONE")


def test_the_body_is_an_argument_a_file_or_stdin(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '{"topics": [{"name": "fresh", "numPartitions": 3, "replicationFactor": 1}]}'
    assert raw(capsys, "CreateTopics", text)["topics"][0]["numPartitions"] == 3
    file = tmp_path / "body.json"
    file.write_text(text.replace("fresh", "second"))
    assert raw(capsys, "create_topics", f"@{file}", "--broker", "controller")["topics"][0]["name"] == "second"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.replace("fresh", "third").encode())))
    assert raw(capsys, "19", "-")["topics"][0]["errorCode"] == 0
    assert sandbox.call(lambda one: sorted(one.topics.by_name)) == ["fresh", "orders", "second", "third"]


def test_the_broker_that_is_asked(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    sandbox.faults.cluster.move_coordinator("billing", 3)
    body = '{"groups": [{"groupId": "billing"}]}'
    assert raw(capsys, "OffsetFetch", body, "--broker", "group:billing")["groups"][0]["errorCode"] == 0
    assert raw(capsys, "OffsetFetch", body, "--broker", "1", code=1)["groups"][0]["errorCode"] == 16
    leader = sandbox.call(lambda one: one.topics.partition("orders", 1).leader)
    body = '{"topics": [{"name": "orders", "partitions": [{"partitionIndex": 1, "timestamp": -1}]}]}'
    answer = raw(capsys, "ListOffsets", body, "--broker", "leader:orders:1")
    assert answer["topics"][0]["partitions"][0]["offset"] == 0
    other = next(node for node in (1, 2, 3) if node != leader)
    wrong = raw(capsys, "ListOffsets", body, "--broker", str(other), code=1)
    assert wrong["topics"][0]["partitions"][0]["errorCode"] == codes.NOT_LEADER_OR_FOLLOWER.number
    body = '{"transactionalIds": ["load"]}'
    assert raw(capsys, "DescribeTransactions", body, "--broker", "txn:load", code=1)["transactionStates"]


def test_a_record_batch_goes_in_and_comes_out_as_base64(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    from base64 import b64decode, b64encode

    from tests.sandbox.client import batch

    data = batch(2, value=b"hello")
    part = {"index": 0, "records": b64encode(data).decode()}
    body = json.dumps({"acks": -1, "timeoutMs": 1000, "topicData": [{"name": "orders", "partitionData": [part]}]})
    told = raw(capsys, "Produce", body, "--api-version", "12", "--broker", "leader:orders:0")
    assert told["responses"][0]["partitionResponses"][0]["baseOffset"] == 0
    partitions = [{"partition": 0, "fetchOffset": 0, "partitionMaxBytes": 1 << 20}]
    ask = json.dumps({"maxBytes": 1 << 20, "topics": [{"topic": "orders", "partitions": partitions}]})
    answer = raw(capsys, "Fetch", ask, "--api-version", "12", "--broker", "leader:orders:0")
    records = b64decode(answer["responses"][0]["partitions"][0]["records"])
    assert records[61:] == data[61:]


def test_acks_0_has_no_answer(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["raw", "Produce", '{"acks": 0, "timeoutMs": 1000}', "--broker", "1"]) == 0
    assert capsys.readouterr().out == ""


def test_a_dry_run_prints_the_whole_request_and_sends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    body = raw(capsys, "DeleteTopics", '{"topics": [{"name": "orders"}]}', "--dry-run", "-b", "nowhere.invalid:1")
    assert body["topics"][0]["name"] == "orders"
    assert "timeoutMs" in body


def test_the_lists_take_the_options_of_lists(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["raw", "--list", "--sort", "key:desc", "--top", "1", "--columns", "key", "--no-headers"]
    assert main(words) == 0
    assert capsys.readouterr().out == f"{max(REQUESTS)}\n"
    assert main([*words, "--watch", "--interval", "1ms", "--refreshes", "2"]) == 0
    assert capsys.readouterr().out.split() == [str(max(REQUESTS))] * 2
    assert main(["raw", "--describe", "Metadata", "--sort", "field:desc", "--top", "1", "--format", "plain"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    for option in (["--watch"], ["--sort", "key"], ["--top", "1"], ["--columns", "key"]):
        assert main(["raw", "Metadata", *option]) == 2
        assert "--list" in capsys.readouterr().err


def test_a_request_for_the_versions_names_kcli_unless_its_body_names_a_client(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    for version in ("0", "2", "3", "4"):
        assert raw(capsys, "ApiVersions", "--api-version", version)["errorCode"] == 0
    shown = raw(capsys, "ApiVersions", "--dry-run")
    assert shown["clientSoftwareName"] == "kcli"
    assert shown["clientSoftwareVersion"]
    shown = raw(capsys, "ApiVersions", '{"clientSoftwareName": "mine"}', "--dry-run")
    assert shown["clientSoftwareName"] == "mine"
    assert shown["clientSoftwareVersion"]
    for body in ('{"clientSoftwareName": ""}', '{"client_software_name": ""}'):
        assert raw(capsys, "ApiVersions", body, code=1)["errorCode"] == 42  # what is given is sent


SOFTWARE = '{"clientSoftwareName": "raw", "clientSoftwareVersion": "1"}'


def test_the_bytes_of_both_frames_and_of_no_other(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["raw", "ApiVersions", SOFTWARE, "--hex", "--api-version", "3"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert [line[0] for line in said if line[0] in "<>"] == [">", "<"]
    assert said[0].endswith(" bytes")
    size, key, version = said[1].split()[1:3], said[1].split()[3], said[1].split()[4]
    assert (int("".join(size), 16) + 4, key, version) == (int(said[0].split()[-2]), "0012", "0003")


def test_a_read_only_profile_sends_nothing_that_changes_anything(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "kcli"
    config.mkdir()
    (config / "config.toml").write_text(f'[profiles.look]\nbootstrap = "{sandbox.bootstrap}"\nread_only = true\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    delete = ["DeleteTopics", '{"topics": [{"name": "orders"}], "timeoutMs": 1000}', "--profile", "look"]
    assert main(["raw", *delete]) == 2
    assert "refused by read-only profile look: DeleteTopics would change the cluster" in capsys.readouterr().err
    assert sandbox.call(lambda one: list(one.topics.by_name)) == ["orders"]
    assert raw(capsys, "ListGroups", "--profile", "look")["groups"] == []


def test_the_apis_with_our_versions_and_the_brokers(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    sandbox.faults.wire.speak_only("AlterConfigs", 9, 9)
    sandbox.faults.wire.speak_only("ListGroups", 0, 3)
    rows = {row["api"]: row for row in raw(capsys, "--list", "-J")["apis"]}
    assert set(REQUESTS) == {row["key"] for row in rows.values()}
    assert (rows["Produce"]["kcli"], rows["Produce"]["broker"], rows["Produce"]["used"]) == ("3-13", "0-13", 13)
    assert (rows["ListGroups"]["broker"], rows["ListGroups"]["used"]) == ("0-3", 3)
    assert (rows["AlterConfigs"]["broker"], rows["AlterConfigs"]["used"]) == (None, None)
    alone = raw(capsys, "--list", "-J", "-b", "127.0.0.1:1", "-X", "default.api.timeout.ms=300", code=5)
    assert len(alone["apis"]) == len(REQUESTS)
    assert alone["errors"]


def test_the_fields_of_an_api_with_types_versions_and_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    document = raw(capsys, "--describe", "ListTransactions", "-J")
    fields = {(row["kind"], row["field"]): row for row in document["fields"]}
    pattern = fields["request", "transactionalIdPattern"]
    assert (pattern["type"], pattern["versions"], pattern["null"], pattern["default"]) == ("string", "2+", "2+", "null")
    assert fields["answer", "transactionStates[].producerId"]["type"] == "int64"
    assert document["api"][0]["versions"] == "0-2"
    older = raw(capsys, "--describe", "66", "--api-version", "0", "-J")
    assert "durationFilter" not in {row["field"] for row in older["fields"]}


@each("key", REQUESTS)
def test_every_api_can_be_described(key: int, capsys: pytest.CaptureFixture[str]) -> None:
    document = raw(capsys, "--describe", str(key), "-J")
    assert document["api"][0]["about"]
    assert all(row["type"] and row["versions"] and row["default"] for row in document["fields"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "missing API"),
        (["Fetsh"], "unknown API Fetsh; did you mean Fetch?"),
        (["999"], "unknown API 999"),
        (["Fetch", "{}", "{}"], "unexpected argument '{}'"),
        (["Fetch", "{"], "the body is not JSON"),
        (["Fetch", "@/nowhere"], "/nowhere: No such file"),
        (["Fetch", '{"a": 1, "a": 2}'], "a is given twice"),
        (["Fetch", '{"maxWaitMs": NaN}'], "NaN is not JSON"),
        (["Fetch", "[" * 100_000], "nested too deeply"),
        (["Fetch", "9" * 5_000], "the body has a number that is too long"),
        (["Fetch", "--api-version", "99"], "Fetch has versions 4-18 here, not 99"),
        (["Fetch", "--broker", "nobody"], "--broker nobody: expected any, controller"),
        (["Fetch", "--broker", "leader:orders"], "expected any, controller"),
        (["Fetch", "--format", "csv"], "responses are JSON"),
        (["--describe", "Fetch", "--api-version", "99"], "not 99"),
        (["SaslAuthenticate", "--hex"], "the password of this connection"),
        (["Metadata", '{"topics": null}', "--api-version", "0", "--dry-run"], "topics: cannot be null in version 0"),
    ],
)
def test_a_line_that_makes_no_sense_is_told_what_does(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["raw", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_version_that_the_broker_does_not_speak_is_not_sent(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.faults.wire.speak_only("AlterConfigs", 9, 9)
    sandbox.faults.wire.speak_only("ListGroups", 0, 3)
    assert main(["raw", "AlterConfigs"]) == 1
    assert "does not offer AlterConfigs" in capsys.readouterr().err
    assert main(["raw", "ListGroups", "--api-version", "4"]) == 1
    assert "supports ListGroups 0-3, and kcli 0-5; not 4" in capsys.readouterr().err
    assert raw(capsys, "ListGroups")["errorCode"] == 0


@pytest.mark.parametrize(
    ("words", "doubt"),
    [
        (["CreateTopics", '{"topics": [{"name": "new", "numPartitions": 1, "replicationFactor": 1}]}'], True),
        (["ListGroups"], False),
    ],
)
def test_a_change_that_was_sent_and_not_answered_may_have_been_done(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], words: list[str], doubt: bool
) -> None:
    sandbox.faults.wire.never_answer(words[0], times=9)
    assert main(["raw", *words, "-X", "request.timeout.ms=200"]) == 4
    assert ("the request was sent and may have taken effect" in capsys.readouterr().err) is doubt
