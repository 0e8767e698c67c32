"""`kcli copy --schemas`: records between clusters with a registry each, read by a consumer of the target."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell, inside
from tests.programs import Result
from tests.registry.commands import Commands
from tests.registry.oracles import Oracle

Names = Callable[[str], str]


class Pair:
    """Two clusters, each with a registry: the target's is a sandbox's or Apicurio's, in which ids are others."""

    def __init__(self, source: SandboxThread, target: SandboxThread, url: str, folder: Path, subject: Names) -> None:
        self.here = Commands(source.registry_url, folder, "sandbox")
        self.there = Commands(url, folder)
        self.source, self.target = Shell(source.bootstrap), Shell(target.bootstrap)
        self.topic, self.name = subject("orders"), subject("Order").replace("-", "")
        self.money, self.record = subject("money"), subject("Money").replace("-", "")
        self.there.registered(
            subject("other"), self.there.avro("other.avsc", "x:int", record=subject("X").replace("-", ""))
        )
        self.here.registered(self.money, self.here.avro("money.avsc", "cents:long", record=self.record))
        path = self.here.avro("v1.avsc", "id:int", f"price:{self.record}", record=self.name)
        self.first = self.here.registered(f"{self.topic}-value", path, "--reference", f"{self.record}={self.money}@1")
        self.source.ok("topics", "create", self.topic, "-p", "2")

    def produce(self, *words: str, ids: range = range(3)) -> None:
        lines = "".join(json.dumps({"id": id, "price": {"cents": id}}) + "\n" for id in ids)
        self.source.ok(
            "produce", self.topic, "-p", "0", "--schema-registry", self.here.url, "--value-schema", "topic", *words,
            stdin=lines.encode(),
        )  # fmt: skip

    def copy(self, *words: str, code: int = 0, target: str = "") -> Result:
        done = inside(
            "copy", self.topic, target or self.topic, "-b", self.source.bootstrap, "--to-bootstrap",
            self.target.bootstrap, "--create", "--schema-registry", self.here.url,
            "--to-X", f"schema.registry.url={self.there.url}", *words,
        )  # fmt: skip
        assert done.code == code, done
        return done

    def decoded(self, topic: str = "", *words: str) -> list[str]:
        """What a consumer of the target reads."""
        done = self.target.ok(
            "consume", topic or self.topic, "-e", "--schema-registry", self.there.url, "--fail-on-undecoded", *words
        )
        return done.decode().splitlines()


@pytest.fixture(params=["sandbox", "apicurio"])
def pair(request: pytest.FixtureRequest, registry: None, tmp_path: Path, subject: Names) -> Iterator[Pair]:
    with SandboxThread(registry=True) as source, SandboxThread(registry=True) as target:
        url = target.registry_url
        if request.param != "sandbox":
            oracle: Oracle = request.getfixturevalue(request.param)
            url = oracle.url
        yield Pair(source, target, url, tmp_path, subject)


def shown(ids: range) -> list[str]:
    return [f'{{"id":{id},"price":{{"cents":{id}}}}}' for id in ids]


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_a_consumer_of_the_target_decodes_what_was_copied(pair: Pair, codec: str) -> None:
    pair.produce("-z", codec)
    done = pair.copy("--schemas", "register")
    assert "3 ids of schemas rewritten, 2 schemas registered" in done.err
    assert pair.decoded() == shown(range(3))
    (row,) = pair.there.rows("describe", f"{pair.topic}-value")
    assert row["id"] != pair.first
    assert row["references"] == [f"{pair.record}={pair.money}@1"]


def test_each_version_has_its_own_id(pair: Pair) -> None:
    pair.produce()
    pair.here.run("compat", f"{pair.topic}-value", "--set", "none", "--execute")
    path = pair.here.avro("v2.avsc", "id:string", record=pair.name)
    pair.here.registered(f"{pair.topic}-value", path)
    pair.source.ok(
        "produce", pair.topic, "-p", "0", "--schema-registry", pair.here.url, "--value-schema", "topic",
        stdin=b'{"id": "x"}\n',
    )  # fmt: skip
    pair.there.run("compat", "--set", "none", "--execute")
    pair.copy("--schemas", "register")
    assert pair.decoded() == [*shown(range(3)), '{"id":"x"}']
    assert len(pair.there.rows("versions", f"{pair.topic}-value")) == 2
    pair.copy("--schemas", "fail", "--restart")  # it has all of them now
    assert len(pair.decoded()) == 8


def test_the_subject_follows_the_topic(pair: Pair) -> None:
    pair.produce()
    pair.copy("--schemas", "register", target=f"{pair.topic}-2")
    assert pair.decoded(f"{pair.topic}-2") == shown(range(3))
    pair.there.rows("describe", f"{pair.topic}-2-value")
    pair.there.run("describe", f"{pair.topic}-value", code=1)


def test_a_schema_that_the_target_lacks_fails(pair: Pair) -> None:
    pair.produce()
    done = pair.copy("--schemas", "fail", code=1)
    assert f"{pair.topic}-value version 1: {pair.there.url} does not have this schema" in done.err
    assert pair.target.ok("count", pair.topic).strip() == b"0"
    pair.there.run("describe", f"{pair.topic}-value", code=1)


def test_two_registries_and_nothing_said_is_an_error(pair: Pair) -> None:
    pair.produce()
    done = pair.copy(code=2)
    assert "different registries" in done.err
    assert "--schemas register, fail or keep" in done.err
    pair.copy("--schemas", "keep")
    same = pair.source.ok("consume", pair.topic, "-e", "-f", "%s{hex}\\n")
    assert pair.target.ok("consume", pair.topic, "-e", "-f", "%s{hex}\\n") == same


def test_what_only_looks_like_a_frame_stays_as_it_is(pair: Pair) -> None:
    """Whole numbers of eight bytes, text, a null, and the id of a schema in front of what is not of it."""
    pair.produce()
    plain = [
        struct.pack(">q", 7), struct.pack(">q", 1_700_000_000_000), struct.pack(">q", pair.first << 24 | 5), b"text",
        b"\0" + pair.first.to_bytes(4, "big"), b"\0\0",
    ]  # fmt: skip
    for payload in plain:
        pair.source.ok("produce", pair.topic, "-p", "1", "--whole", stdin=payload)
    pair.source.ok("produce", pair.topic, "-p", "1", "-k", "x", "-Z", stdin=b"\n")
    done = pair.copy("--schemas", "register")
    assert "3 ids of schemas rewritten" in done.err
    assert "values were copied as they are" in done.err
    found = pair.target.ok("consume", pair.topic, "-p", "1", "-e", "-f", "%s{hex} %S\\n")
    assert found == pair.source.ok("consume", pair.topic, "-p", "1", "-e", "-f", "%s{hex} %S\\n")
    assert pair.target.ok("consume", pair.topic, "-p", "0", "-e", "--schema-registry", pair.there.url).decode() == (
        "\n".join(shown(range(3))) + "\n"
    )


def test_a_filter_and_a_new_partition_are_rewritten_too(pair: Pair) -> None:
    pair.produce("-z", "gzip", ids=range(10))
    pair.copy("--schemas", "register", "--repartition", "-n", "4", "-z", "lz4")
    assert sorted(pair.decoded()) == shown(range(4))


def test_what_names_no_registry(pair: Pair) -> None:
    pair.produce()
    where = ["copy", pair.topic, "t", "-b", pair.source.bootstrap, "--to-bootstrap", pair.target.bootstrap, "--create"]
    assert "no registry is set for SRC" in inside(*where, "--schemas", "register").err
    done = inside(*where, "--schemas", "fail", "--schema-registry", pair.here.url)
    assert (done.code, "no registry is set for DST" in done.err) == (2, True)


def test_a_registry_that_does_not_answer_ends_the_copy(tmp_path: Path, subject: Names) -> None:
    with SandboxThread(registry=True) as source, SandboxThread(registry=True) as target:
        pair = Pair(source, target, target.registry_url, tmp_path, subject)
        pair.produce()
        source.faults.registry.fail_registry(500, path="/schemas/ids", times=50)
        done = pair.copy("--schemas", "register", code=5)
        assert "a value's schema cannot be looked up" in done.err
        assert target.call(lambda inside: True)
        assert pair.target.ok("count", pair.topic).strip() == b"0"
