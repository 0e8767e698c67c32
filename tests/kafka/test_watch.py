"""What `make nightly` watches: the jars of a Kafka beside kcli's declarations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kcli import codes
from kcli.admin.cluster.brokers import level_name
from kcli.proto.messages import UNSPOKEN, request_type
from tests.kafka import watch
from tests.kafka.artifacts import libs

NAMES = ("kafka-clients", "kafka-server-common", "slf4j-api")


@pytest.fixture(scope="module")
def jars() -> dict[str, Path]:
    found = {path.name.rpartition("-")[0]: path for path in libs().glob("*.jar")}
    return {name: found[name] for name in NAMES}


def test_kcli_knows_all_of_the_kafka_that_the_tests_run_on(jars: dict[str, Path]) -> None:
    assert sorted(watch.compare(jars)) == sorted(watch.exceptions())


def test_what_kcli_lacks_is_listed_line_by_line(jars: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a newer Kafka: a version, a field, an API and its name, an error code, a level."""

    def newer(text: str) -> Any:
        schema = plain(text)
        if schema["name"] == "FetchRequest":
            schema["validVersions"] = "4-19"
        elif schema["name"] == "MetadataRequest":
            schema["fields"].append({"name": "Reason", "type": "string", "versions": "13+"})
        elif schema["name"] == "EndTxnRequest":
            schema["fields"][0]["type"] = "int32"
        return schema

    plain = watch.without_comments
    monkeypatch.setattr(watch, "without_comments", newer)
    monkeypatch.setattr(watch, "request_type", lambda key: None if key == 94 else request_type(key))
    monkeypatch.setitem(UNSPOKEN, 93, "Something")
    monkeypatch.delattr(codes, "CONTROLLER_ID_NOT_REGISTERED")
    monkeypatch.setattr(codes.GROUP_DELETION_FAILED, "retriable", True)
    monkeypatch.setattr(
        watch, "level_name", lambda feature, level: "4.4-IV9" if level == 33 else level_name(feature, level)
    )
    lines = set(watch.compare(jars)) - watch.exceptions()
    assert lines == {
        "FetchRequest: versions 4-19, not 4-18",
        "MetadataRequest: fields topics, allow_auto_topic_creation, include_cluster_authorized_operations, "
        "include_topic_authorized_operations, reason, not topics, allow_auto_topic_creation, "
        "include_cluster_authorized_operations, include_topic_authorized_operations",
        "EndTxnRequest.transactional_id: type Int32, not str",
        "EndTxnRequest.transactional_id: default 0, not ",
        "StreamsGroupTopologyDescriptionUpdate (93): has no name",
        "UnregisterController (94): not declared",
        "UnregisterController (94): has no name",
        "error 134 GROUP_DELETION_FAILED: Kafka has it final",
        "error 136 is CONTROLLER_ID_NOT_REGISTERED, not declared",
        "metadata.version 33 is 4.4-IV2, not 4.4-IV9",
    }


def test_the_exit_code_says_it_and_a_stale_exception_too(
    jars: dict[str, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(watch, "fetch", lambda version, folder: jars)
    assert watch.main([]) == 0
    assert "kcli knows Kafka" in capsys.readouterr().out
    file = tmp_path / "watch.txt"
    file.write_text(watch.EXCEPTIONS.read_text().replace("Vote (52)", "Voted (52)"))
    monkeypatch.setattr(watch, "EXCEPTIONS", file)
    assert watch.main([]) == 1
    told = capsys.readouterr().out
    assert "Vote (52): not declared" in told
    assert "watch.txt: not so in Kafka" in told
