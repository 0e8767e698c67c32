"""Configs beside those that hold: secrets are not compared, what passes is not pruned, requests have a bound."""

from __future__ import annotations

import pytest

from kcli.admin.configs.resources import Config, Resource, own
from kcli.config.secrets.sources import Source
from kcli.declared.kinds.settings import compare, kept
from kcli.declared.kinds.topics import MOST_PARTITIONS, MOST_TOPICS, _pieces
from kcli.declared.model import Declared, Setting, Settings, Step, Topic

BROKER, EVERY, TOPIC = Resource("broker", "1"), Resource("broker", ""), Resource("topic", "t")
SECRET = "ssl.keystore.password"
KNOWN = {
    SECRET: Config(name=SECRET, value=None, source="broker", kind="password", secret=True),
    "log.cleaner.threads": Config(name="log.cleaner.threads", value="2", source="all brokers", kind="int"),
    "leader.replication.throttled.rate": Config(
        name="leader.replication.throttled.rate", value="5", source="broker", kind="long"
    ),
}


def declared(**values: str | Source) -> Settings:
    return Settings(values={name.replace("_", "."): Setting(value=value) for name, value in values.items()})


def test_a_secret_that_is_set_is_left_unless_it_shall_be_set_again() -> None:
    wanted = declared(ssl_keystore_password=Source(kind="env", what=("X",)))
    assert compare(BROKER, wanted, KNOWN, prune=False, secrets=False).items == []
    (item,) = compare(BROKER, wanted, KNOWN, prune=False, secrets=True).items
    assert (item.sign, item.old, item.new) == ("~", "***", "***")
    (item,) = compare(BROKER, wanted, {}, prune=False, secrets=False).items
    assert (item.sign, item.old, item.new) == ("+", None, "***")
    changes = compare(BROKER, Settings(), KNOWN, prune=True, secrets=False)
    assert [(one.sign, one.what, one.old) for one in changes.items] == [("-", SECRET, "***")]
    assert changes.before == {}  # it cannot be read, so it cannot be put back


def test_what_is_set_for_all_brokers_is_not_a_brokers_own() -> None:
    assert not own(BROKER, KNOWN["log.cleaner.threads"])
    assert own(EVERY, KNOWN["log.cleaner.threads"])
    assert compare(BROKER, declared(log_cleaner_threads="2"), KNOWN, prune=False, secrets=False).items == []
    changes = compare(BROKER, declared(log_cleaner_threads="3"), KNOWN, prune=False, secrets=False)
    assert [(one.sign, one.old, one.new) for one in changes.items] == [("~", "2", "3")]
    assert (changes.before, changes.inherit) == ({}, ["log.cleaner.threads"])


@pytest.mark.parametrize(
    ("at", "name", "expected"),
    [
        (BROKER, "leader.replication.throttled.rate", True),
        (TOPIC, "follower.replication.throttled.replicas", True),
        (EVERY, "min.insync.replicas", True),
        (TOPIC, "min.insync.replicas", False),
        (TOPIC, "retention.ms", False),
    ],
)
def test_what_Kafka_and_a_reassignment_set_is_nobodys_to_prune(at: Resource, name: str, expected: bool) -> None:
    assert kept(at, name) is expected


def test_topics_are_made_in_requests_that_a_controller_takes() -> None:
    steps = [Step(name=str(n), sign="+", do=Topic(partitions=900)) for n in range(10)]
    assert [len(some) for some in _pieces(steps)] == [4, 4, 2]
    steps = [Step(name=str(n), sign="+", do=Topic(partitions=1)) for n in range(2500)]
    assert [len(some) for some in _pieces(steps)] == [MOST_TOPICS, MOST_TOPICS, 500]
    (alone,) = _pieces([Step(name="large", sign="+", do=Topic(partitions=3 * MOST_PARTITIONS))])
    assert len(alone) == 1
    assert list(_pieces([])) == []


@pytest.mark.parametrize(
    ("patterns", "name", "expected"),
    [
        (["*"], "orders", True),
        (["*"], "_schemas", False),
        (["_*"], "_schemas", True),
        (["*", "_*"], "__consumer_offsets", False),
        (["orders-?"], "orders-12", False),
        ([], "orders", False),
        (["Orders"], "orders", False),
    ],
)
def test_a_scope_selects_as_a_shell_does_and_never_what_is_Kafkas(
    patterns: list[str], name: str, expected: bool
) -> None:
    assert Declared(scope={"topics": patterns}).selected("topics", name) is expected
    assert not Declared(scope={"topics": patterns}).selected("acls", name)
