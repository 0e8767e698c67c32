"""Configs beside those that hold: secrets are not compared, what passes is not pruned, requests have a bound."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kcli.admin.configs import Config, Resource, own
from kcli.changes.declared.configs import kept, steps
from kcli.changes.declared.plan import ClusterPlan
from kcli.changes.declared.topics import MOST_PARTITIONS, MOST_TOPICS, UNTOLD, pieces
from kcli.config.secrets.sources import Source
from kcli.declared.model import Declared, Setting, Settings

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


def compared(
    wanted: Settings, known: dict[str, Config], *, prune: bool = False, resend: bool = False
) -> tuple[list[tuple[str, str, object, object]], object]:
    """The lines of the plan, and what undoes it."""
    plan = ClusterPlan(cluster=cast("Any", None), declared=Declared(), resend=resend)
    found = steps(plan, BROKER, wanted, known, prune=prune)
    undo = found[0].undo["configs"]["broker"]["1"] if found else None
    return [(row.sign, row.item, row.old, row.new) for step in found for row in step.rows], undo


def test_a_secret_that_is_set_is_left_unless_it_shall_be_set_again() -> None:
    wanted = declared(ssl_keystore_password=Source(kind="env", what=("X",)))
    assert compared(wanted, KNOWN)[0] == []
    assert compared(wanted, KNOWN, resend=True)[0] == [("~", SECRET, "***", "***")]
    assert compared(wanted, {}) == ([("+", SECRET, None, "***")], {"inherit": [SECRET]})
    rows, undo = compared(Settings(), KNOWN, prune=True)
    assert rows == [("-", SECRET, "***", None)]
    assert undo == {}  # it cannot be read, so it cannot be put back


def test_what_is_set_for_all_brokers_is_not_a_brokers_own() -> None:
    assert not own(BROKER, KNOWN["log.cleaner.threads"])
    assert own(EVERY, KNOWN["log.cleaner.threads"])
    assert compared(declared(log_cleaner_threads="2"), KNOWN)[0] == []
    rows, undo = compared(declared(log_cleaner_threads="3"), KNOWN)
    assert rows == [("~", "log.cleaner.threads", "2", "3")]
    assert undo == {"inherit": ["log.cleaner.threads"]}


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
    assert [len(some) for some in pieces({str(n): 900 for n in range(10)})] == [4, 4, 2]
    assert [len(some) for some in pieces({str(n): 1 for n in range(2500)})] == [MOST_TOPICS, MOST_TOPICS, 500]
    assert [len(some) for some in pieces({str(n): UNTOLD for n in range(500)})] == [400, 100]
    assert list(pieces({"large": 3 * MOST_PARTITIONS})) == [["large"]]
    assert list(pieces({})) == []


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
