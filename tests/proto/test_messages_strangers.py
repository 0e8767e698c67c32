"""Against strangers: kafka-python's codec gives the same bytes, and Kafka's own JSON schemas the same declarations."""

from __future__ import annotations

import importlib.resources
import json
import random
import re
import uuid
import zipfile
from typing import Any

import kafka.protocol.admin
import kafka.protocol.consumer
import kafka.protocol.metadata
import kafka.protocol.producer
import kafka.protocol.sasl
import pytest

from kcli.proto.compile import Wire, fields_of
from kcli.proto.protobuf_code import camel
from kcli.proto.schema import NO_ID, Message, Struct, Versions
from kcli.values import Field, Value
from tests.each import each
from tests.effort import tries
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
    "RemoveRaftVoter", "RenewDelegationToken", "UnregisterBroker",
}  # fmt: skip
UNSTABLE = {"InitProducerId": "0-5"}  # v6 (two-phase commit) is unstable in 4.4: declared by Kafka, not to be sent
BEHIND = {"ApiVersions", "DeleteGroups", "StreamsGroupDescribe", "StreamsGroupHeartbeat", "TxnOffsetCommit"}
"""Messages of which Kafka 4.4 has a newer version than kcli: the issue on Kafka 4.4 empties this set."""


def stranger(message: type[Message]) -> Any:
    return next((getattr(p, message.__name__) for p in PACKAGES if hasattr(p, message.__name__)), None)


def known(message: type[Message]) -> bool:
    return message.__name__.removesuffix("Request").removesuffix("Response") not in NOT_IN_KAFKA_PYTHON


EVERY = [pytest.param(m, v, id=f"{m.__name__}-v{v}") for m, v in message_versions() if known(m)]


def agrees(mine: Any, theirs: Any, version: int, where: str) -> None:
    """Every field that the version carries has our value in what kafka-python decoded."""
    if isinstance(mine, Struct):
        for f, _ in fields_of(type(mine)):
            # kafka-python shows the bit field as a set under another name; its bytes were compared above
            if version in f.extra.versions and not f.name.endswith("authorized_operations"):
                agrees(getattr(mine, f.name), getattr(theirs, f.name), version, f"{where}.{f.name}")
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

SHORT = {
    "int8": "Int8", "int16": "Int16", "int32": "Int32", "int64": "Int64", "uint16": "UInt16", "uint32": "UInt32",
    "float64": "Float64", "bool": "bool", "string": "str", "bytes": "bytes", "uuid": "Uuid", "records": "Records",
}  # fmt: skip


def without_comments(text: str) -> Any:
    return json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))


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
    name = message.__name__.removesuffix("Request").removesuffix("Response")
    assert schema["apiKey"] == message.api_key  # type: ignore[attr-defined]
    if name in UNSTABLE:
        assert repr(message.versions) == UNSTABLE[name]
    else:
        valid = Versions(schema["validVersions"])
        if name in BEHIND and source == "kafka-clients":
            assert message.versions.last == valid.last - 1
            return
        assert (message.versions.first, message.versions.last) == (valid.first, valid.last)
    flexible = Versions(schema["flexibleVersions"])
    for version in range(message.versions.first, message.versions.last + 1):
        assert (version in message.flexible) == (version in flexible)
    common = {one["name"]: one["fields"] for one in schema.get("commonStructs", [])}
    _compare(message, schema["fields"], common, message.versions.first)


def _compare(struct: type[Value], fields: list[dict[str, Any]], common: dict[str, Any], first: int) -> None:
    ours = fields_of(struct)
    # kafka-python keeps fields of versions that Kafka 4 has dropped
    fields = [one for one in fields if Versions(one["versions"]).last >= first]
    assert [f.name for f, _ in ours] == [_snake(one["name"]) for one in fields]
    for (f, wire), theirs in zip(ours, fields, strict=True):
        where = f"{struct.__name__}.{f.name}"
        kind = theirs["type"].removeprefix("[]")
        assert camel(f.name) == theirs["name"][:1].lower() + theirs["name"][1:], where
        assert (wire.kind == "list") == theirs["type"].startswith("[]"), where
        inner: Wire = wire.element if wire.element is not None else wire
        assert f.extra.versions == Versions(theirs["versions"]), where
        assert f.extra.null == Versions(theirs.get("nullableVersions", "none")), where
        assert f.extra.tag == theirs.get("tag"), where
        assert f.extra.ignorable == theirs.get("ignorable", False), where
        if kind in SHORT:
            assert inner.kind == SHORT[kind], where
        else:
            assert inner.struct is not None, where
            # "Answered…": request and response have structs of one name with other fields
            assert inner.struct.__name__.removeprefix("Answered") == kind, where
            _compare(inner.struct, theirs.get("fields") or common[kind], common, first)
        if kind != "records":
            assert f.make_default() == _default(f, inner, wire.kind == "list", theirs), where


def _default(f: Field, inner: Wire, is_list: bool, theirs: dict[str, Any]) -> Any:
    given = theirs.get("default")
    if given == "null":
        return None
    if is_list:
        return []
    if inner.struct is not None:
        return inner.struct()
    kind = theirs["type"]
    if kind == "bool":
        return str(given).lower() == "true"
    if kind == "string":
        return given or ""
    if kind == "bytes":
        return b""
    if kind == "uuid":
        return NO_ID
    if kind == "float64":
        return float(given or 0)
    return int(str(given or 0), 0)


def _snake(name: str) -> str:
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def test_every_api_of_this_issue_is_declared() -> None:
    keys = {m.api_key for m in messages()}  # type: ignore[attr-defined]
    assert {0, 1, 2, 3, *range(8, 24), 32, 36, 37, 42, 44, 47, 60, 68, 69, 75} <= keys
