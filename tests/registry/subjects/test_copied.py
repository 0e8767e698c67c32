"""`kcli copy --schemas register` by the strategies of subjects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell, inside
from tests.registry.commands import Commands
from tests.registry.subjects.kinds import KINDS, LINE
from tests.registry.subjects.test_associated import associate

Name = Callable[[], str]


@pytest.fixture(scope="module")
def clusters() -> Iterator[tuple[SandboxThread, SandboxThread]]:
    with SandboxThread(registry=True) as source, SandboxThread(registry=True) as target:
        yield source, target


@pytest.mark.parametrize(
    ("strategy", "old", "new"),
    [
        ("topic", "{src}-value", "{dst}-value"),
        ("record", "shop.{name}", "shop.{name}"),
        ("topic-record", "{src}-shop.{name}", "{dst}-shop.{name}"),
        ("associated", "{src}-value", "{dst}-value"),
        ("associated", "here-{name}", "here-{name}"),
        ("associated", "here-{name}", "there-{name}"),
    ],
)
@pytest.mark.parametrize("said", ["option", "property"])
def test_the_subject_of_the_copy_is_that_of_the_strategy(
    said: str,
    strategy: str,
    old: str,
    new: str,
    clusters: tuple[SandboxThread, SandboxThread],
    tmp_path: Path,
    name: Name,
) -> None:
    source, target = clusters
    record, shell = name(), Shell(source.bootstrap)
    topic = shell.topic()
    names = {"src": topic, "dst": f"{topic}-2", "name": record}
    here, there = Commands(source.registry_url, tmp_path), Commands(target.registry_url, tmp_path)
    path = here.file("order.avsc", KINDS[0].text(record))
    here.registered(f"zz-{record}", path)
    here.registered(old.format(**names), path)
    if old.startswith("here"):
        associate(here.url, topic, value=old.format(**names))
    if new.startswith("there"):
        there.registered(new.format(**names), there.file("other.avsc", '"string"'))
        there.run("compat", new.format(**names), "--set", "none", "--execute", "-q")
        associate(there.url, f"{topic}-2", value=new.format(**names))
    shell.ok(
        "produce", topic, "--schema-registry", here.url, "--value-schema", old.format(**names), stdin=LINE.encode()
    )
    way = {
        "option": ["--value-subject", strategy],
        "property": ["-X", f"value.subject.name.strategy={strategy}"],
    }
    done = inside(
        "copy", topic, f"{topic}-2", "-b", source.bootstrap, "--to-bootstrap", target.bootstrap, "--create",
        "--schema-registry", here.url, "--to-X", f"schema.registry.url={there.url}", "--schemas", "register",
        *way[said],
    )  # fmt: skip
    assert done.code == 0, done
    assert there.rows("describe", new.format(**names))[0]["version"] == (2 if new.startswith("there") else 1)
    reader = Shell(target.bootstrap)
    assert reader.ok("consume", f"{topic}-2", "-e", "--schema-registry", there.url) == b'{"id":7}\n'
    assert f"zz-{record}" not in {row["subject"] for row in there.rows("list")}


def test_a_strategy_without_schemas_to_move_is_refused(clusters: tuple[SandboxThread, SandboxThread]) -> None:
    for words in ([], ["--schemas", "keep"]):
        done = inside("copy", "a", "b", "-b", clusters[0].bootstrap, "--value-subject", "record", *words)
        assert done.code == 2
        assert "--value-subject and --key-subject require --schemas register or fail" in done.err


def test_two_strategies_are_refused_unless_the_line_says_which(clusters: tuple[SandboxThread, SandboxThread]) -> None:
    source, target = clusters
    line = (
        "copy", "a", "b", "-b", source.bootstrap, "--to-bootstrap", target.bootstrap, "--schemas", "register",
        "--schema-registry", source.registry_url, "--to-X", f"schema.registry.url={target.registry_url}",
        "--to-X", "key.subject.name.strategy=record",
    )  # fmt: skip
    done = inside(*line)
    assert done.code == 2
    assert "SRC finds subjects of keys by topic, DST by record: choose one, such as --key-subject topic" in done.err
    assert "choose one, such as" not in inside(*line, "--key-subject", "record").err


def test_a_later_message_of_protobuf_has_the_topic_of_the_copy_in_its_subject(
    clusters: tuple[SandboxThread, SandboxThread], tmp_path: Path, name: Name
) -> None:
    source, target = clusters
    record, shell = name(), Shell(source.bootstrap)
    topic = shell.topic()
    here, there = Commands(source.registry_url, tmp_path), Commands(target.registry_url, tmp_path)
    subject = f"{topic}-shop.{record}"
    here.registered(subject, here.file("order.proto", KINDS[1].text(record)))
    spec = KINDS[1].spec(subject, record)
    shell.ok("produce", topic, "--schema-registry", here.url, "--value-schema", spec, stdin=LINE.encode())
    done = inside(
        "copy", topic, f"{topic}-2", "-b", source.bootstrap, "--to-bootstrap", target.bootstrap, "--create",
        "--schema-registry", here.url, "--to-X", f"schema.registry.url={there.url}", "--schemas", "register",
        "--value-subject", "topic-record",
    )  # fmt: skip
    assert done.code == 0, done
    subjects = {row["subject"] for row in there.rows("list")}
    assert f"{topic}-2-shop.{record}" in subjects
    assert subject not in subjects


def test_each_message_of_protobuf_that_has_a_subject_has_one_in_the_target(
    clusters: tuple[SandboxThread, SandboxThread], tmp_path: Path, name: Name
) -> None:
    source, target = clusters
    record, shell = name(), Shell(source.bootstrap)
    topic = shell.topic()
    here, there = Commands(source.registry_url, tmp_path), Commands(target.registry_url, tmp_path)
    path = here.file("order.proto", KINDS[1].text(record))
    subject, other = f"{topic}-shop.{record}", f"{topic}-shop.Before"
    assert here.registered(other, path) == here.registered(subject, path)
    for spec, line in ((KINDS[1].spec(subject, record), LINE), (f"{other}#shop.Before", "{}")):
        shell.ok("produce", topic, "--schema-registry", here.url, "--value-schema", spec, stdin=line.encode())
    done = inside(
        "copy", topic, f"{topic}-2", "-b", source.bootstrap, "--to-bootstrap", target.bootstrap, "--create",
        "--schema-registry", here.url, "--to-X", f"schema.registry.url={there.url}", "--schemas", "register",
        "--value-subject", "topic-record",
    )  # fmt: skip
    assert done.code == 0, done
    assert {f"{topic}-2-shop.{record}", f"{topic}-2-shop.Before"} <= {row["subject"] for row in there.rows("list")}
    read = Shell(target.bootstrap).ok("consume", f"{topic}-2", "-e", "--schema-registry", there.url)
    assert sorted(read.split()) == [b'{"id":7}', b"{}"]
