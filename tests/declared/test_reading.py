"""Declared clusters are read from YAML, TOML and JSON alike; what is wrong is one sentence with its file and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.acls import Acl
from kcli.admin.configs import Resource
from kcli.admin.quotas import entity
from kcli.cli.commands.apply.files import read
from kcli.cli.documents import toml_reader, yaml_reader
from kcli.config.secrets.sources import Source
from kcli.declared.model import Declared
from kcli.declared.reading import Checker, declared, plain, same
from kcli.declared.schema import SCHEMA
from kcli.declared.writing import text_of
from kcli.errors import UsageError

YAML = """# all of it
scope:
  topics: [orders-*]
defaults:
  replication: 3
  configs: {min.insync.replicas: 2}
topics:
  orders:
    partitions: 6
    configs:
      retention.ms: 7d
      cleanup.policy: [compact, delete]
    inherit: [segment.ms]
configs:
  broker:
    default: {log.cleaner.threads: 2}
    1:
      ssl.keystore.password: {env: STORE}
users:
  alice:
    SCRAM-SHA-512:
      iterations: 8192
      password: {file: alice.txt}
quotas:
- user: alice
  client-id: <default>
  producer_byte_rate: 10MiB/s
acls:
- principal: User:alice
  allow: [read, describe]
  topic: [orders, mail]
- {principal: User:bob, host: 10.0.0.1, deny: delete, group: app-, pattern: prefixed}
- {principal: User:ops, allow: alter, cluster: true}
absent:
  topics: [old]
"""
TOML = """
[scope]
topics = ["orders-*"]
[defaults]
replication = 3
configs.min.insync.replicas = 2
[topics.orders]
partitions = 6
inherit = ["segment.ms"]
[topics.orders.configs]
retention.ms = "7d"
"cleanup.policy" = ["compact", "delete"]
[configs.broker.default]
"log.cleaner.threads" = 2
[configs.broker.1]
ssl.keystore.password = { env = "STORE" }
[users.alice.SCRAM-SHA-512]
iterations = 8192
password = { file = "alice.txt" }
[[quotas]]
user = "alice"
client-id = "<default>"
producer_byte_rate = "10MiB/s"
[[acls]]
principal = "User:alice"
allow = ["read", "describe"]
topic = ["orders", "mail"]
[[acls]]
principal = "User:bob"
host = "10.0.0.1"
deny = "delete"
group = "app-"
pattern = "prefixed"
[[acls]]
principal = "User:ops"
allow = "alter"
cluster = true
[absent]
topics = ["old"]
"""


def yaml(text: str) -> Declared:
    return declared([("f.yaml", yaml_reader.load(text, "f.yaml"))])


def toml(text: str) -> Declared:
    return declared([("f.toml", toml_reader.load(text, "f.toml"))])


def said(one: Declared) -> list[Any]:
    """What is declared, without where."""
    return [
        {name: (t.partitions, t.replication, values(t.settings)) for name, t in one.topics.items()},
        {at: values(settings) for at, settings in one.configs.items()},
        {at: (login.iterations, login.password) for at, login in one.users.items()},
        {at: values(settings) for at, settings in one.quotas.items()},
        set(one.acls), set(one.absent_topics), set(one.absent_users), set(one.absent_acls), one.scope,
    ]  # fmt: skip


def values(settings: Any) -> tuple[dict[str, Any], set[str]]:
    return {name: one.value for name, one in settings.values.items()}, set(settings.inherit)


def test_a_file_is_read_with_units_lists_defaults_and_places_of_secrets() -> None:
    found = yaml(YAML)
    orders = found.topics["orders"]
    assert (orders.partitions, orders.replication, orders.place) == (6, 3, "f.yaml:8")
    assert values(orders.settings) == (
        {"min.insync.replicas": "2", "retention.ms": "604800000", "cleanup.policy": "compact,delete"}, {"segment.ms"},
    )  # fmt: skip
    assert orders.settings.values["retention.ms"].place == "f.yaml:11"
    secret = found.configs[Resource("broker", "1")].values["ssl.keystore.password"].value
    assert secret == Source(kind="env", what=("STORE",))
    assert found.users["alice", "SCRAM-SHA-512"].password == Source(kind="file", what=("./alice.txt",))
    quota = found.quotas[entity({"user": "alice", "client-id": None})]
    assert float(str(quota.values["producer_byte_rate"].value)) == 10 * 1024**2
    assert Acl("topic", "mail", "literal", "User:alice", "*", "describe", "allow") in found.acls
    assert Acl("group", "app-", "prefixed", "User:bob", "10.0.0.1", "delete", "deny") in found.acls
    assert Acl("cluster", "kafka-cluster", "literal", "User:ops", "*", "alter", "allow") in found.acls
    assert len(found.acls) == 6
    assert found.absent_topics == {"old": "f.yaml:35"}


def test_YAML_TOML_and_JSON_say_the_same(tmp_path: Path) -> None:
    assert said(yaml(YAML)) == said(toml(TOML))
    path = tmp_path / "f.json"
    path.write_text(json.dumps(yaml_reader.load(YAML, "f"), indent=3))
    of_json = said(read([str(path)]))
    assert of_json[2]["alice", "SCRAM-SHA-512"][1] == Source(kind="file", what=(str(tmp_path / "alice.txt"),))
    del of_json[2]["alice", "SCRAM-SHA-512"]
    expected = said(yaml(YAML))
    del expected[2]["alice", "SCRAM-SHA-512"]
    assert of_json == expected


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("partitions: 6", "partition: 6", "f.yaml:9: topics: orders: unknown key partition; did you mean partiti"),
        ("partitions: 6", "partitions: six", "f.yaml:9: topics: orders: partitions: expected a whole number, not six"),
        ("partitions: 6", "partitions: 0", "f.yaml:9: topics: orders: partitions: 0 is not the minimum 1 or more"),
        ("partitions: 6", "partitions:", "f.yaml:9: topics: orders: partitions: there is no value"),
        ("partitions: 6", "partitions: [6]", "f.yaml:9: topics: orders: partitions: expected a whole number, not a l"),
        (
            "retention.ms: 7d",
            "retention.ms: 7x",
            "f.yaml:11: retention.ms: '7x' is not a duration; write 604800000, 7d",
        ),
        ("topics:\n  orders:", "topics:\n- orders:", "f.yaml:7: topics: expected keys and values below it, not a li"),
        (
            "{env: STORE}",
            "hunter2",
            "f.yaml:18: ssl.keystore.password: a secret is not allowed in this file; refer to it",
        ),
        ("{env: STORE}", "{env: A, file: b}", "f.yaml:18: ssl.keystore.password: set one of env, file"),
        ("{file: alice.txt}", "hunter2", "f.yaml:23: users: alice: SCRAM-SHA-512: password: expected keys and"),
        ("SCRAM-SHA-512", "SCRAM-SHA-1", "f.yaml:21: users: alice: unknown key SCRAM-SHA-1; did you mean SCR"),
        ("iterations: 8192", "iterations: 100", "f.yaml:22: users: alice: SCRAM-SHA-512: iterations: 100 is not t"),
        ("producer_byte_rate: 10MiB/s", "producer_byte_rate: x", "f.yaml:27: producer_byte_rate: a limit must be"),
        ("user: alice\n", "ip: 10.0.0.1\n", "f.yaml:25: an ip quota cannot be combined"),
        ("allow: [read, describe]", "allow: [raed]", "f.yaml:30: acls 1: allow: unknown value raed; did you mean read"),
        ("User:bob", "bob", "f.yaml:32: bob: expected TYPE:NAME, such as User:bob"),
        ("  topic: [orders, mail]\n", "", "f.yaml:29: an ACL needs a resource: topic, group,"),
        ("cluster: true", "cluster: kafka", "f.yaml:33: acls 3: cluster: expected true or false, not kafka"),
        ("deny: delete, ", "", "f.yaml:32: add what is allowed or denied"),
        ("topics: [old]", "topics: [orders]", "f.yaml:35: orders is declared both absent and present, at f.yaml:8"),
        (
            "inherit: [segment.ms]",
            "inherit: [retention.ms]",
            "f.yaml:11: retention.ms is both set and listed to inherit",
        ),
        ("  broker:", "  topic:", "f.yaml:15: configs: unknown key topic"),
        ("    1:", "    one:", "f.yaml:17: broker one: expected the id of a broker, such as 1"),
        ("# all of it", "schema: kcli.declared/9", "f.yaml:1: schema: this kcli reads kcli.declared/1, not kcli.decl"),
        (YAML, "- a", "f.yaml:1: a declared cluster must be a map with schema, taken, scope"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(old: str, new: str, says: str) -> None:
    assert old in YAML
    with pytest.raises(UsageError) as told:
        yaml(YAML.replace(old, new, 1))
    assert str(told.value).startswith(says)
    assert "\n" not in str(told.value)
    assert "hunter2" not in str(told.value) or "password: expected" in str(told.value)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("partitions = 6", "partitons = 6", "f.toml:8: topics: orders: unknown key partitons; did you mean"),
        ('"7d"', '"7x"', "f.toml:11: retention.ms: '7x' is not a duration"),
        ('allow = ["read", "describe"]', 'allow = ["raed"]', "f.toml:26: acls 1: allow: unknown value raed"),
        ('principal = "User:bob"', 'principal = "bob"', "f.toml:29: bob: expected TYPE:NAME"),
        ("iterations = 8192", "iterations = 2026-01-01", "f.toml:18: users: alice: SCRAM-SHA-512: iterations: 2026-01"),
        ("partitions = 6", "partitions = ", "f.toml:8: Invalid value"),
        (
            '{ env = "STORE" }',
            '{ evn = "STORE" }',
            "f.toml:16: ssl.keystore.password.evn: a secret is not allowed in this file",
        ),
    ],
)
def test_in_TOML_too(old: str, new: str, says: str) -> None:
    assert old in TOML
    with pytest.raises(UsageError) as told:
        toml(TOML.replace(old, new, 1))
    assert str(told.value).startswith(says), told.value


def test_a_text_of_many_lines_has_no_keys_of_TOML() -> None:
    text = 'a = """\nb = 1\n[x]\n\\""" "\\q" = 2\n"""\nb = 2 # """\nd."e\\u0066" = \'\'\'\nc = 3\'\'\'\nc = \'"""\'\n'
    document = toml_reader.load(text.replace('"\\q"', "q"), "f.toml")
    assert document.lines == {"a": 1, "b": 6, "d": 7, "c": 9}
    assert document["d"].lines == {"ef": 7}


@pytest.mark.parametrize(
    ("line", "keys"),
    [("[a.b]", ["a", "b"]), ('[[ "a.b" . c ]] # d', ["a.b", "c"]), ("a = 1", []), ('["\\q"]', []), ("[a", [])],
)
def test_a_header_of_TOML_names_its_keys(line: str, keys: list[str]) -> None:
    assert toml_reader.header(line) == keys


def test_files_and_folders_are_one_declaration(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "a.yaml").write_text("topics: {a: {partitions: 1}}\n")
    (tmp_path / "more" / "b.toml").write_text("[topics.b]\n")
    (tmp_path / "more" / "notes.txt").write_text("not: [read")
    (tmp_path / ".hidden.yaml").write_text("not: [read")
    assert list(read([str(tmp_path)]).topics) == ["a", "b"]
    assert list(read([str(tmp_path / "a.yaml"), str(tmp_path)]).topics) == ["a", "b"]
    (tmp_path / "c.yaml").write_text("\ntopics:\n  a: {}\n")
    with pytest.raises(UsageError, match=r"c\.yaml:3: a is declared already, at .*a\.yaml:1$"):
        read([str(tmp_path)])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        (b"", "the file declares nothing"),
        (b"topics:\n  \xff: {}", ":2: this is not UTF-8 text"),
        (b"topics: {a: {}", ":1: this bracket is never closed"),
    ],
)
def test_a_file_that_is_none_is_told(content: bytes | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError) as told:
        read([str(path)])
    assert str(told.value).startswith(f"{path}")
    assert says in str(told.value)
    (tmp_path / "none").mkdir()
    with pytest.raises(UsageError, match="no file in this folder ends with"):
        read([str(tmp_path / "none")])


def test_an_empty_list_of_files_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="missing argument: FILE"):
        read([])


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("retention.ms", "7d", "604800000"),
        ("retention.ms", "1.5h", "5400000"),
        ("log.retention.ms", "500ms", "500"),
        ("retention.ms", "-1", "-1"),
        ("retention.ms", "604800000", "604800000"),
        ("segment.bytes", "1GiB", "1073741824"),
        ("segment.bytes", "10MB", "10000000"),
        ("metric.reporters", "7d", "7d"),
        ("min.insync.replicas", "2", "2"),
        ("log.cleaner.dedupe.buffer.size", "128MiB", "134217728"),
    ],
)
def test_units_are_those_of_the_config(name: str, text: str, expected: str) -> None:
    assert plain(name, text) == expected


@pytest.mark.parametrize(
    ("name", "kind", "one", "other", "expected"),
    [
        ("preallocate", "boolean", "True", "true", True),
        ("preallocate", "boolean", "true", "false", False),
        ("cleanup.policy", "list", "delete, compact", "compact,delete", True),
        ("cleanup.policy", "", "delete,compact", "compact,delete", True),
        ("other", "list", "a,b", "b,a", False),
        ("min.cleanable.dirty.ratio", "double", "0.50", "0.5", True),
        ("retention.ms", "long", "007", "7", True),
        ("retention.ms", "", "7.0", "7", True),
        ("compression.type", "string", "zstd ", "zstd", True),
        ("compression.type", "string", "ZSTD", "zstd", False),
        ("retention.ms", "long", "x", "7", False),
        ("x", "string", None, None, True),
        ("x", "string", "", None, False),
    ],
)
def test_the_same_value_in_another_form_is_no_difference(
    name: str, kind: str, one: str | None, other: str | None, expected: bool
) -> None:
    assert same(name, kind, one, other) is expected


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
DOCUMENT = st.fixed_dictionaries(
    {},
    optional={
        "topics": st.dictionaries(
            TEXT,
            st.fixed_dictionaries(
                {"partitions": st.integers(1, 99)},
                optional={"configs": st.dictionaries(TEXT, TEXT, max_size=3), "inherit": st.lists(TEXT, max_size=2)},
            ),
            max_size=3,
        ),
        "users": st.dictionaries(
            TEXT,
            st.just({"SCRAM-SHA-256": {"iterations": 4096, "password": {"env": "X"}}}), max_size=2,
        ),
        "quotas": st.lists(st.fixed_dictionaries({"user": TEXT, "producer_byte_rate": st.integers(1, 10**12)}),
                           min_size=1, max_size=2),
        "acls": st.lists(st.fixed_dictionaries({"principal": TEXT, "allow": st.just(["read"]), "topic": TEXT}),
                         min_size=1, max_size=2),
    },
)  # fmt: skip


@given(DOCUMENT)
def test_what_is_written_reads_back_in_every_format(document: dict[str, Any]) -> None:
    def texts(value: Any) -> Any:
        """YAML's scalars are read as texts."""
        if isinstance(value, dict):
            return {key: texts(one) for key, one in value.items()}
        return [texts(one) for one in value] if isinstance(value, list) else str(value)

    assert (yaml_reader.load(text_of(document, "yaml"), "f") or {}) == texts(document)
    assert toml_reader.load(text_of(document, "toml"), "f") == document
    assert json.loads(text_of(document, "json")) == document
    assert (yaml_reader.load(text_of(document, "json"), "f") or {}) == texts(document)
    Checker("f", SCHEMA).check(document)
