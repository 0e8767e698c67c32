"""Against strangers: kafka-python's codec gives the same bytes, and Kafka's own JSON schemas the same declarations."""

from __future__ import annotations

import importlib.resources
import random
import uuid
import zipfile
from typing import Any

import kafka.protocol.admin
import kafka.protocol.consumer
import kafka.protocol.metadata
import kafka.protocol.producer
import kafka.protocol.sasl
import pytest

from kcli.proto.compile import fields_of
from kcli.proto.schema import Message, Struct, Versions
from tests.each import each
from tests.effort import tries
from tests.kafka.watch import differences, without_comments
from tests.proto.samples import message_versions, messages, sample

PACKAGES = (
    kafka.protocol.admin,
    kafka.protocol.consumer,
    kafka.protocol.metadata,
    kafka.protocol.producer,
    kafka.protocol.sasl,
)
NOT_IN_KAFKA_PYTHON = {  # KIP-848, 932 and 1071: it has no such clients
    "ConsumerGroupHeartbeat", "ConsumerGroupDescribe", "ShareGroupHeartbeat", "ShareGroupDescribe", "ShareFetch",
    "ShareAcknowledge", "DescribeShareGroupOffsets", "AlterShareGroupOffsets", "DeleteShareGroupOffsets",
    "StreamsGroupDescribe", "StreamsGroupHeartbeat", "GetTelemetrySubscriptions", "PushTelemetry",
    # nor what moves disks, tokens and voters
    "AddRaftVoter", "CreateDelegationToken", "DescribeDelegationToken", "ExpireDelegationToken",
    "RemoveRaftVoter", "RenewDelegationToken", "UnregisterBroker", "UnregisterController",
}  # fmt: skip
UNSTABLE = "InitProducerId"  # v6 (two-phase commit) is declared by Kafka, not to be sent; only requests are marked
RENAMED = {"generation_id_or_member_epoch": "generation_id"}
"""Names of fields that Kafka 4.4 changed and kafka-python did not."""


def stranger(message: type[Message]) -> Any:
    return next((getattr(p, message.__name__) for p in PACKAGES if hasattr(p, message.__name__)), None)


def known(message: type[Message]) -> bool:
    return message.__name__.removesuffix("Request").removesuffix("Response") not in NOT_IN_KAFKA_PYTHON


EVERY = [
    pytest.param(m, v, id=f"{m.__name__}-v{v}")
    for m, v in message_versions()
    if known(m) and v <= stranger(m).max_version
]


def agrees(mine: Any, theirs: Any, version: int, where: str) -> None:
    """Every field that the version carries has our value in what kafka-python decoded."""
    if isinstance(mine, Struct):
        for f, _ in fields_of(type(mine)):
            # kafka-python shows the bit field as a set under another name; its bytes were compared above
            if version in f.extra.versions and not f.name.endswith("authorized_operations"):
                named = f.name if hasattr(theirs, f.name) else RENAMED[f.name]
                agrees(getattr(mine, f.name), getattr(theirs, named), version, f"{where}.{f.name}")
    elif isinstance(mine, list):
        assert len(mine) == len(theirs), where
        for ours, one in zip(mine, theirs, strict=True):
            agrees(ours, one, version, where)
    elif isinstance(theirs, uuid.UUID):
        assert mine == theirs.bytes, where
    elif isinstance(mine, bytes | memoryview):
        assert bytes(mine) == bytes(theirs), where
    else:
        assert mine == theirs, where


@pytest.mark.slow
@each(("message", "version"), EVERY)
def test_kafka_python_reads_our_bytes_and_writes_the_same(message: type[Message], version: int) -> None:
    theirs = stranger(message)
    rng = random.Random(f"stranger {message.__name__}{version}")
    for _ in range(tries(6)):
        value = sample(message, version, rng)
        if message.__name__ == "ApiVersionsResponse":
            value.error_code = 0  # with an error kafka-python reads any version as v0
        wire = b"".join(value.encode(version))
        decoded = theirs.decode(wire, version=version)
        decoded._header = None  # its encoder looks for one, its decoder sets none
        assert bytes(decoded.encode(version=version)) == wire
        agrees(value, decoded, version, message.__name__)


# -- Kafka's own schemas ----------------------------------------------------------------------------------------------


def schema_sources() -> dict[str, Any]:
    """Where schemas come from: kafka-python's wheel always, Kafka's own jar where the Kafka fixture keeps it."""
    wheel = importlib.resources.files("kafka.protocol.schemas") / "resources"
    sources: dict[str, Any] = {"kafka-python": lambda name: _read_or_none(wheel / f"{name}.json")}
    from tests.kafka.artifacts import cached_jar

    jar = cached_jar("kafka-clients")
    if jar is not None:
        archive = zipfile.ZipFile(jar)
        sources["kafka-clients"] = lambda name: without_comments(archive.read(f"common/message/{name}.json").decode())
    return sources


def _read_or_none(path: Any) -> Any:
    return without_comments(path.read_text()) if path.is_file() else None


SOURCES = schema_sources()


@pytest.mark.parametrize(
    "source", ["kafka-python", pytest.param("kafka-clients", marks=pytest.mark.needs("java", "mvn"))]
)
@each("message", messages(), ids=lambda m: m.__name__)
def test_the_declaration_equals_kafkas_schema(message: type[Message], source: str) -> None:
    schema = SOURCES[source](message.__name__)
    if schema is None:
        assert source == "kafka-python"
        assert not known(message)
        return
    if source == "kafka-python" and Versions(schema["validVersions"]).last < message.versions.last:
        return  # it has not caught up: what it knows is compared byte by byte above, the rest with Kafka's own jar
    newer = Versions(schema["validVersions"]).last > message.versions.last
    unstable = newer and message.__name__.startswith(UNSTABLE)
    assert list(differences(message, {**schema, "latestVersionUnstable": unstable})) == []


def test_every_api_of_this_issue_is_declared() -> None:
    keys = {m.api_key for m in messages()}  # type: ignore[attr-defined]
    assert {0, 1, 2, 3, *range(8, 24), 32, 36, 37, 42, 44, 47, 60, 68, 69, 75} <= keys
