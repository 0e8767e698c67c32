"""`python -m tests.kafka.watch [VERSION]`: what the newest Kafka on Maven Central has and kcli lacks.

The message schemas and error codes inside Kafka's jars are compared with `kcli/proto/messages` and `kcli/codes.py`, and
the levels of metadata.version with their names. Prints a line for each difference that `watch.txt` does not except; the
exit code is 1 if there is one, or if an exception is about no difference.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kcli import codes
from kcli.admin.cluster.brokers import METADATA_VERSION, level_name
from kcli.codes import ErrorCode
from kcli.proto.compile import Wire, fields_of
from kcli.proto.messages import REQUESTS, UNSPOKEN, request_type
from kcli.proto.protobuf_code import camel
from kcli.proto.schema import NO_ID, Message, Versions
from kcli.values import Field, Value
from tests.kafka.artifacts import PLUGIN
from tests.kafka.tools import JVM
from tests.kafka.versions import NEWEST as NEWEST_TESTED

EXCEPTIONS = Path(__file__).with_name("watch.txt")
TABLES = Path(__file__).with_name("KafkaTables.java")
NEWEST = "[4.0,)"
LIMIT = 600.0
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kcli.tests</groupId>
  <artifactId>watched-kafka</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka-server-common</artifactId>
      <version>{version}</version>
    </dependency>
  </dependencies>
</project>
"""
SHORT = {
    "int8": "Int8", "int16": "Int16", "int32": "Int32", "int64": "Int64", "uint16": "UInt16", "uint32": "UInt32",
    "float64": "Float64", "bool": "bool", "string": "str", "bytes": "bytes", "uuid": "Uuid", "records": "Records",
}  # fmt: skip


def main(words: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        jars = fetch(words[0] if words else NEWEST, Path(folder))
        version = jars["kafka-clients"].stem.removeprefix("kafka-clients-")
        found = compare(jars)
    excepted = exceptions()
    lacking = [line for line in found if line not in excepted]
    stale = sorted(excepted - set(found))
    for line in lacking:
        print(f"Kafka {version}: {line}")
    for line in stale:
        print(f"{EXCEPTIONS.name}: not so in Kafka {version}: {line}")
    if version != NEWEST_TESTED and not words:
        print(
            f"note: Kafka {version} is out, the tests run on {NEWEST_TESTED}: set kafka.version in tests/kafka/pom.xml"
        )
    if not lacking and not stale:
        print(f"kcli knows Kafka {version}: {len(REQUESTS)} APIs, {len(excepted)} exceptions")
    return int(bool(lacking or stale))


def exceptions() -> set[str]:
    """The lines of watch.txt."""
    lines = (line.strip() for line in EXCEPTIONS.read_text().splitlines())
    return {line for line in lines if line and not line.startswith("#")}


def fetch(version: str, folder: Path) -> dict[str, Path]:
    """Kafka's jars of a version or a range, by artifact. Raises CalledProcessError when Maven fails."""
    pom = folder / "pom.xml"
    pom.write_text(POM.format(version=version))
    subprocess.run(
        ["mvn", "-B", "-q", "-U", "-f", str(pom), PLUGIN, "-DincludeScope=runtime", f"-DoutputDirectory={folder}"],
        check=True, timeout=LIMIT,
    )  # fmt: skip
    return {path.name.rpartition("-")[0]: path for path in folder.glob("*.jar")}


def compare(jars: dict[str, Path]) -> list[str]:
    """The differences between Kafka's jars and kcli's declarations."""
    with zipfile.ZipFile(jars["kafka-clients"]) as archive:
        schemas = {
            name.rpartition("/")[2].removesuffix(".json"): without_comments(archive.read(name).decode())
            for name in archive.namelist()
            if re.fullmatch(r"common/message/\w+(Request|Response)\.json", name)
        }
    # the class path is Kafka's own jars; the table of errors loads a logger's interface
    classes = ":".join(map(str, jars.values()))
    done = subprocess.run(
        ["java", *JVM, "-cp", classes, str(TABLES)], check=True, timeout=LIMIT, capture_output=True, text=True
    )
    return [*_messages(schemas), *_tables(done.stdout)]


def _messages(schemas: dict[str, Any]) -> Iterator[str]:
    for name, schema in sorted(schemas.items(), key=lambda item: (item[1]["apiKey"], item[0])):
        key, api = schema["apiKey"], name.removesuffix("Request").removesuffix("Response")
        if schema["validVersions"] == "none":
            continue  # of Kafka before 4.0
        request = request_type(key)
        if request is None:
            if name.endswith("Request"):
                yield f"{api} ({key}): not declared"
                if UNSPOKEN.get(key) != api:
                    yield f"{api} ({key}): has no name"
            continue
        unstable = schemas[f"{api}Request"].get("latestVersionUnstable", False)  # only requests say so
        message = request if name.endswith("Request") else request.response()
        yield from differences(message, {**schema, "latestVersionUnstable": unstable})


def _tables(printed: str) -> Iterator[str]:
    ours = {row.number: row for row in vars(codes).values() if isinstance(row, ErrorCode)}
    for line in printed.splitlines():
        kind, number, name, *more = line.split()
        if kind == "level":
            if (known := level_name(METADATA_VERSION, int(number))) != name:
                yield f"metadata.version {number} is {name}, not {known}"
            continue
        row = ours.get(int(number))
        if row is None or row.name != name:
            yield f"error {number} is {name}, not {row.name if row else 'declared'}"
        elif row.retriable != (more == ["true"]):
            yield f"error {number} {name}: Kafka has it {'retriable' if more == ['true'] else 'final'}"


def without_comments(text: str) -> Any:
    return json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))


def differences(message: type[Message], schema: dict[str, Any]) -> Iterator[str]:
    """What Kafka's schema of a message says and kcli's declaration does not."""
    name, valid = message.__name__, Versions(schema["validVersions"])
    last = valid.last - 1 if schema.get("latestVersionUnstable") else valid.last  # declared by Kafka, not to be sent
    key = message.api_key  # type: ignore[attr-defined]
    if schema["apiKey"] != key:
        yield f"{name}: the API key is {schema['apiKey']}, not {key}"
    if (message.versions.first, message.versions.last) != (valid.first, last):
        yield f"{name}: versions {valid.first}-{last}, not {message.versions}"
        return  # the fields differ then, too
    flexible = Versions(schema["flexibleVersions"])
    for version in range(valid.first, last + 1):
        if (version in message.flexible) != (version in flexible):
            yield f"{name}: flexible versions {flexible}, not {message.flexible}"
            break
    common = {one["name"]: one["fields"] for one in schema.get("commonStructs", [])}
    yield from _fields(message, schema["fields"], common, message.versions.first, name)


def _fields(
    struct: type[Value], theirs: list[dict[str, Any]], common: dict[str, Any], first: int, path: str
) -> Iterator[str]:
    # kafka-python keeps fields of versions that Kafka 4 has dropped
    theirs = [one for one in theirs if Versions(one["versions"]).last >= first]
    ours = fields_of(struct)
    names = [_snake(one["name"]) for one in theirs]
    if [f.name for f, _ in ours] != names:
        yield f"{path}: fields {', '.join(names)}, not {', '.join(f.name for f, _ in ours)}"
        return
    for (f, wire), one in zip(ours, theirs, strict=True):
        where = f"{path}.{f.name}"
        is_list = one["type"].startswith("[]")
        kind = one["type"].removeprefix("[]")
        inner: Wire = wire.element if wire.element is not None else wire
        yield from _unlike(
            where,
            ("name", one["name"][:1].lower() + one["name"][1:], camel(f.name)),
            ("list", is_list, wire.kind == "list"),
            ("versions", Versions(one["versions"]), f.extra.versions),
            ("nullable versions", Versions(one.get("nullableVersions", "none")), f.extra.null),
            ("tag", one.get("tag"), f.extra.tag),
            ("ignorable", one.get("ignorable", False), f.extra.ignorable),
        )
        if kind in SHORT:
            yield from _unlike(where, ("type", SHORT[kind], inner.kind))
        elif inner.struct is None:
            yield f"{where}: type {kind}, not {inner.kind}"
            continue
        else:
            # "Answered…": request and response have structs of one name with other fields
            yield from _unlike(where, ("type", kind, inner.struct.__name__.removeprefix("Answered")))
            yield from _fields(inner.struct, one.get("fields") or common[kind], common, first, where)
        if kind != "records":
            yield from _unlike(where, ("default", _default(f, inner, is_list, one), f.make_default()))


def _unlike(where: str, *pairs: tuple[str, Any, Any]) -> Iterator[str]:
    for what, theirs, ours in pairs:
        if theirs != ours:
            yield f"{where}: {what} {theirs}, not {ours}"


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
