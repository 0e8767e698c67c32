"""ACLs bind in the sandbox as in Kafka: each request is refused without its ACL, by its own error, and goes with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcli import codes
from kcli.acls import Acl, exactly
from kcli.client import Client
from kcli.errors import BrokerError
from kcli.proto.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic
from kcli.sandbox.sandbox import Sandbox
from kcli.sandbox.thread import SandboxThread
from kcli.secret import Secret
from kcli.security import Sasl, Security
from kcli.settings import ClientSettings, parse_bootstrap
from tests.cli.conftest import Shell
from tests.sandbox.client import Peer

PASSWORDS = {"admin": "a", "bob": "b"}
ADMIN, BOB = ["-F", "admin.properties"], ["-F", "bob.properties"]
TOPIC, GROUP = "TOPIC_AUTHORIZATION_FAILED", "GROUP_AUTHORIZATION_FAILED"
CLUSTER, TRANSACTION = "CLUSTER_AUTHORIZATION_FAILED", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"


def _replace_rules(sandbox: Sandbox, rules: list[Acl]) -> None:
    kept = sandbox.cluster.access.acls.rules
    kept.clear()
    kept.update(rules)


def allow(kind: str, name: str, *operations: str, pattern: str = "literal") -> list[Acl]:
    return [Acl(kind, name, pattern, "User:bob", "*", one, "allow") for one in operations]


SEE = allow("topic", "orders", "describe")
READ, WRITE = allow("topic", "orders", "read"), allow("topic", "ord", "write", pattern="prefixed")
MEMBER = allow("group", "billing", "read")
CASES = {
    "produce": (
        ["produce", "orders", "--value", "x"],
        [*SEE, *allow("topic", "other", "write")],
        WRITE,
        TOPIC,
    ),
    "idempotent": (["produce", "orders", "--value", "x"], SEE, WRITE, CLUSTER),
    "consume": (["consume", "orders", "-o", "beginning", "-e"], SEE, READ, TOPIC),
    "consume in a group": (["consume", "orders", "-g", "billing", "-e", "--from-beginning"], READ, MEMBER, GROUP),
    "transaction": (
        ["produce", "orders", "--transactional-id", "load", "--value", "x"],
        WRITE,
        allow("transactional-id", "load", "write"),
        TRANSACTION,
    ),
    "describe": (
        ["topics", "describe", "orders"],
        allow("topic", "other", "all"),
        [*SEE, *allow("topic", "orders", "describe-configs")],
        TOPIC,
    ),
    "alter": (["topics", "alter", "orders", "-p", "4", "--execute"], SEE, allow("topic", "orders", "alter"), TOPIC),
    "create": (["topics", "create", "new"], SEE, allow("topic", "new", "create", "describe"), TOPIC),
    "create anything": (
        ["topics", "create", "new"],
        allow("topic", "new", "describe"),
        allow("cluster", "kafka-cluster", "create"),
        TOPIC,
    ),
    "delete": (["topics", "delete", "orders", "--execute"], READ, allow("topic", "orders", "delete"), TOPIC),
    "trim": (
        ["topics", "trim", "orders", "--before", "end", "--execute"],
        SEE,
        allow("topic", "orders", "delete"),
        TOPIC,
    ),
    "configs": (["configs", "get", "topic", "orders"], SEE, allow("topic", "orders", "describe-configs"), TOPIC),
    "set configs": (
        ["configs", "set", "topic", "orders", "retention.ms=5000", "--execute"],
        allow("topic", "orders", "describe-configs"),
        allow("topic", "orders", "alter-configs"),
        TOPIC,
    ),
    "broker's configs": (
        ["configs", "get", "broker", "1"],
        [],
        allow("cluster", "kafka-cluster", "describe-configs"),
        CLUSTER,
    ),
    "acls": (["acls"], [], allow("cluster", "kafka-cluster", "describe"), CLUSTER),
    "add acls": (
        ["acls", "add", "--allow", "ann", "--operation", "read", "--topic", "t", "--execute"],
        allow("cluster", "kafka-cluster", "describe"),
        allow("cluster", "kafka-cluster", "alter"),
        CLUSTER,
    ),
    "users": (["users"], [], allow("cluster", "kafka-cluster", "describe"), CLUSTER),
    "quotas": (["quotas"], [], allow("cluster", "kafka-cluster", "describe-configs"), CLUSTER),
    "log dirs": (["logdirs"], [], allow("cluster", "kafka-cluster", "describe"), CLUSTER),
    "delete a group": (
        ["groups", "delete", "old", "--execute"],
        allow("group", "old", "describe"),
        allow("group", "old", "delete"),
        GROUP,
    ),
    "reset a group": (
        ["groups", "reset", "--create", "old", "-t", "orders", "--to-earliest", "--execute"],
        [*READ, *allow("group", "old", "describe")],
        allow("group", "old", "read"),
        GROUP,
    ),
}


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxThread]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name, password in PASSWORDS.items():
        lines = ("security.protocol=SASL_PLAINTEXT", "sasl.mechanism=SCRAM-SHA-256", f"sasl.username={name}")
        path = tmp_path / f"{name}.properties"
        path.write_text("\n".join([*lines, f"sasl.password={password}", ""]))
        path.chmod(0o600)
    with SandboxThread(topics={"orders": 3}, sasl=PASSWORDS, super_users=["User:admin"], auto_create=False) as made:
        shell = Shell(made.bootstrap)
        shell.ok("produce", "orders", "--value", "first", *ADMIN)
        shell.ok("consume", "orders", "-g", "old", "-e", "--from-beginning", "-q", *ADMIN)
        yield made
        assert made.violations == []


@pytest.mark.parametrize("name", CASES)
def test_what_is_not_allowed_is_refused_by_name_and_goes_with_its_acl(name: str, sandbox: SandboxThread) -> None:
    words, before, more, error = CASES[name]
    shell = Shell(sandbox.bootstrap)
    sandbox.call(lambda made: made.cluster.access.acls.rules.update(before))
    refused = shell(*words, *BOB)
    assert refused.returncode != 0, refused.stdout
    said = (refused.stderr + refused.stdout).decode()
    assert error in said
    lacking = SEE if name == "describe" else allow("topic", "new", "create") if name.startswith("create") else more
    first = lacking[0]
    resource = "cluster" if error == CLUSTER and first.kind == "cluster" else f"{first.kind} {first.name}"
    resource = resource.removesuffix(" ord") + " orders" * (first.name == "ord")
    on = "the cluster" if resource == "cluster" else resource
    right = first.operation.replace("-", "_").upper()
    assert said.count(f"not authorized: {right} on {on} ({error})") == 1, said
    assert said.count(f"; `kcli acls add {first.operation} {resource} --allow User:bob` grants it") == 1, said
    sandbox.call(lambda made: made.cluster.access.acls.rules.update(more))
    done = shell(*words, *BOB)
    assert done.returncode == 0, done.stderr


def test_topics_describe_shows_why_configs_are_unknown(sandbox: SandboxThread) -> None:
    shell = Shell(sandbox.bootstrap)
    sandbox.call(lambda made: made.cluster.access.acls.rules.update(SEE))
    table = shell("topics", "describe", "orders", *BOB)
    assert table.returncode == 1
    assert b"not authorized: DESCRIBE_CONFIGS on topic orders" in table.stdout
    assert b"`kcli acls add describe-configs topic orders --allow User:bob` grants it" in table.stderr
    (topic,) = json.loads(shell("topics", "describe", "orders", "-J", *BOB).stdout)["topics"]
    assert (topic["configs"], topic["error"][:31]) == (None, "not authorized: DESCRIBE_CONFIG")


def test_doctor_names_the_line_that_grants_a_right(sandbox: SandboxThread) -> None:
    shell = Shell(sandbox.bootstrap)
    steps = json.loads(shell("doctor", "-t", "orders", "-J", *BOB).stdout)["steps"]
    (step,) = (step for step in steps if step["fault"] == "not-authorized")
    line = "kcli acls add --allow User:bob --operation read --operation write --topic orders"
    assert (step["result"], step["fix"]) == (
        f"not authorized: DESCRIBE on topic orders ({TOPIC})",
        f"add an ACL: {line}",
    )


def test_lists_leave_out_what_one_may_not_see(sandbox: SandboxThread) -> None:
    shell = Shell(sandbox.bootstrap)
    for words, section in ((["topics", "list"], "topics"), (["groups", "list"], "groups")):
        assert json.loads(shell.ok(*words, "-J", *BOB))[section] == []
        assert json.loads(shell.ok(*words, "-J", *ADMIN))[section] != []


def test_a_denial_holds_from_its_host_only_and_super_users_are_above_it(sandbox: SandboxThread) -> None:
    shell = Shell(sandbox.bootstrap)
    for host, code in (("10.0.0.1", 0), ("127.0.0.1", 1)):
        rules = [*WRITE, *SEE, Acl("topic", "*", "literal", "User:*", host, "write", "deny")]
        sandbox.call(lambda made, rules=rules: _replace_rules(made, rules))
        assert shell("produce", "orders", "--value", "x", *BOB).returncode == code
        assert shell("produce", "orders", "--value", "x", *ADMIN).returncode == 0


async def test_what_no_acl_is_about_is_open_where_it_is_said_so() -> None:
    async with Sandbox(topics={"open": 1, "shut": 1}, sasl=PASSWORDS, super_users=[], everyone=True) as sandbox:
        sandbox.cluster.access.acls.add(Acl("topic", "shut", "literal", "User:ann", "*", "read", "allow"))
        sasl = Sasl(mechanism="PLAIN", username="bob", password=Secret("b"))
        settings = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap), security=Security(sasl=sasl))
        async with Client(settings) as client:
            assert list(await client.cluster.topics()) == ["open"]
            assert len(await client.cluster.partitions("open")) == 1
            with pytest.raises(BrokerError, match=TOPIC):
                await client.cluster.partitions("shut")


async def test_acls_users_and_tokens_outlive_the_process(tmp_path: Path) -> None:
    rule = Acl("topic", "orders", "literal", "User:bob", "*", "read", "allow")
    async with Sandbox(data=tmp_path, sasl=PASSWORDS) as sandbox:
        sandbox.cluster.access.acls.add(rule)
        sandbox.cluster.access.acls.add(rule._replace(name="gone"))
        (gone,) = [one for one in sandbox.cluster.access.acls.rules if one.name == "gone"]
        assert sandbox.cluster.access.acls.remove(exactly(gone)) == [gone]
        sandbox.cluster.access.scram.set("new", "SCRAM-SHA-256", b"salt", 5000, b"salted")
        sandbox.cluster.access.scram.delete("bob", "SCRAM-SHA-512")
        token = sandbox.cluster.access.tokens.create("User:bob", "User:bob", [], -1)
    for _ in range(2):  # the journal is rewritten at each start
        async with Sandbox(data=tmp_path, sasl=PASSWORDS) as sandbox:
            assert sandbox.cluster.access.acls.rules == {rule}
            assert sandbox.cluster.access.scram.iterations("new") == {"SCRAM-SHA-256": 5000}
            assert sandbox.cluster.access.scram.iterations("bob") == {"SCRAM-SHA-256": 4096}
            assert [one.id for one in sandbox.cluster.access.tokens.living()] == [token.id]


async def test_who_may_nothing_is_answered_in_the_oldest_versions_too() -> None:
    async with Sandbox(topics={"t": 1}, super_users=["User:admin"]) as sandbox, Peer(sandbox) as peer:
        elected = await peer.ask(ElectLeadersRequest(topic_partitions=[TopicPartitions(topic="t", partitions=[0])]), 0)
        row = elected.replica_election_results[0].partition_result[0]
        assert codes.of(row.error_code) is codes.CLUSTER_AUTHORIZATION_FAILED
        for version in (0, 11, 12):
            told = await peer.ask(MetadataRequest(topics=[MetadataRequestTopic(name="")]), version)
            assert [(one.name, codes.of(one.error_code)) for one in told.topics] == [
                ("", codes.TOPIC_AUTHORIZATION_FAILED)
            ]
