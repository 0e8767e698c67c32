"""ACLs, SCRAM users and delegation tokens on a real Apache Kafka with its StandardAuthorizer: what kcli changes Kafka's
own tools read and its brokers obey, and the reverse."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from kcli.sandbox.thread import SandboxThread
from tests.idp import Idp
from tests.kafka.secured import SecuredKafka
from tests.programs import Result, kcli

pytestmark = pytest.mark.kafka

CONFIGS = "org.apache.kafka.tools.ConfigCommand"
ACLS, TOKENS = "org.apache.kafka.tools.AclCommand", "org.apache.kafka.tools.DelegationTokenCommand"
SET = ("kind", "name", "pattern", "principal", "host", "operation", "permission")


def until(what: Callable[[], object], said: str, limit: float = 15.0) -> None:
    """Brokers learn of a change a moment after the controller took it."""
    deadline = time.monotonic() + limit
    while not what():
        assert time.monotonic() < deadline, said
        time.sleep(0.1)


class Cluster:
    """A secured Kafka, and command lines at it as the super user of its open listener, or as somebody."""

    def __init__(self, kafka: SecuredKafka, folder: Path) -> None:
        self.kafka = kafka
        self.folder = folder

    def run(self, *words: str, user: str | None = None) -> Result:
        where = ["-b", self.kafka.bootstrap] if user is None else ["-F", str(self.folder / f"{user}.properties")]
        return kcli(*words, *where, env={"XDG_STATE_HOME": str(self.folder)})

    def rows(self, *words: str, code: int = 0, user: str | None = None) -> list[dict[str, Any]]:
        done = self.run(*words, "--format", "json", user=user)
        assert done.code == code, (done.err, done.out)
        document = json.loads(done.out)
        return next(document[name] for name in ("acls", "users", "tokens", "verdicts") if name in document)

    def tool(self, main: str, *words: str) -> str:
        return self.kafka.tool(main, "--bootstrap-server", self.kafka.bootstrap, *words)

    def login(self, user: str, name: str, password: str, mechanism: str = "SCRAM-SHA-512", token: bool = False) -> Path:
        """A properties file for `user`, which Kafka's tools read too."""
        module = "org.apache.kafka.common.security.scram.ScramLoginModule"
        more = ' tokenauth="true"' if token else ""
        path = self.folder / f"{user}.properties"
        path.write_text(
            f"bootstrap.servers={self.kafka.at('SASL')}\nsecurity.protocol=SASL_PLAINTEXT\n"
            f"sasl.mechanism={mechanism}\n"
            f'sasl.jaas.config={module} required username="{name}" password="{password}"{more};\n'
        )
        path.chmod(0o600)
        return path


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("secured")
    with Idp({"kcli": "idp-secret"}) as idp:
        kafka = SecuredKafka(folder, idp)
        kafka.settings["delegation.token.secret.key"] = "a key of the brokers"
        kafka.start()
        made = Cluster(kafka, folder)
        made.login("admin", "admin", "admin-secret")
        yield made
        kafka.stop()


def test_what_kcli_adds_and_removes_kafka_acls_reads(cluster: Cluster, topic_name: Callable[[], str]) -> None:
    topic = topic_name()
    cluster.rows("acls", "add", "--allow", "bob", "--consumer", "--topic", topic, "--group", "bill", "--pattern",
                 "prefixed", "--execute")  # fmt: skip
    cluster.rows("acls", "add", "--deny", "User:*", "--deny-host", "10.0.0.7", "--operation", "all", "--topic", topic,
                 "--cluster", "--user", "ann", "--execute", code=0)  # fmt: skip
    told = cluster.tool(ACLS, "--list")
    for sentence in (
        "(principal=User:bob, host=*, operation=READ, permissionType=ALLOW)",
        f"resourceType=TOPIC, name={topic}, patternType=PREFIXED",
        f"resourceType=TOPIC, name={topic}, patternType=LITERAL",
        "resourceType=GROUP, name=bill, patternType=PREFIXED",
        "resourceType=CLUSTER, name=kafka-cluster, patternType=LITERAL",
        "resourceType=USER, name=User:ann, patternType=LITERAL",
        "(principal=User:*, host=10.0.0.7, operation=ALL, permissionType=DENY)",
    ):
        assert sentence in told, told
    undo = str(cluster.folder / f"{topic}.json")
    gone = cluster.rows("acls", "remove", "--principal", "User:*", "--execute", "--undo-file", undo)
    assert {row["result"] for row in gone} == {"removed"}
    assert len(gone) == 3
    assert "10.0.0.7" not in cluster.tool(ACLS, "--list")
    assert len(cluster.rows("undo", undo, "--execute")) == 3
    assert cluster.tool(ACLS, "--list").count("10.0.0.7") == 3
    cluster.rows("acls", "remove", "--all", "--execute")
    assert cluster.rows("acls") == []


def test_what_kafka_acls_sets_kcli_reads_and_the_sets_are_the_same(
    cluster: Cluster, topic_name: Callable[[], str]
) -> None:
    topic = topic_name()
    words = ("--topic", topic, "--group", "bill", "--transactional-id", "load")
    cluster.tool(ACLS, "--add", "--allow-principal", "User:bob", "--producer", "--consumer", *words)
    theirs = cluster.rows("acls", "list")
    assert theirs
    ours = cluster.rows("acls", "add", "--allow", "bob", "--producer", "--consumer", *words, "--dry-run")
    assert {row["result"] for row in ours} == {"exists"}
    assert {tuple(row[name] for name in SET) for row in ours} == {tuple(row[name] for name in SET) for row in theirs}
    gone = cluster.rows("acls", "remove", "--principal", "bob", "--producer", "--consumer", *words, "--execute")
    assert {row["result"] for row in gone} == {"removed"}
    assert cluster.rows("acls") == []


def test_brokers_obey_what_kcli_adds_and_who_can_says_what_they_do(
    cluster: Cluster, topic_name: Callable[[], str]
) -> None:
    topic = f"orders-{topic_name()}"
    cluster.run("topics", "create", topic)
    cluster.login("alice", "alice", "alice = secret")

    def writes() -> bool:
        return cluster.run("produce", topic, "--value", "x", user="alice").code == 0

    add = ("acls", "add", "--execute", "--no-undo", "--operation")
    for words, wanted in (
        ((*add, "read", "--allow", "zoe", "--topic", topic), False),
        ((*add, "write", "--allow", "alice", "--topic", "orders-", "--pattern", "prefixed"), True),
        ((*add, "write", "--deny", "alice", "--topic", "*", "--deny-host", "10.0.0.7"), True),
        ((*add, "all", "--deny", "User:*", "--topic", topic, "--deny-host", "127.0.0.1"), False),
    ):
        done = cluster.run(*words)
        assert done.code == 0, done.err
        until(lambda wanted=wanted: writes() == wanted, f"alice {'may' if wanted else 'may not'} write after {words}")
        at = ["--host", "127.0.0.1"] if "127.0.0.1" in words else []
        done = cluster.run("acls", "who-can", "write", "topic", topic, "--principal", "alice", *at)
        assert (done.code == 0) == wanted, (words, done.out)
    assert "super users" in cluster.run("acls", "who-can", "write", "topic", topic).err
    cluster.rows("acls", "remove", "--all", "--execute", "--no-undo")


def test_a_refusal_names_the_right_once_and_its_line_grants_it(cluster: Cluster, topic_name: Callable[[], str]) -> None:
    topic = topic_name()
    cluster.run("topics", "create", topic)
    cluster.login("alice", "alice", "alice = secret")
    see = ("acls", "add", "describe", "topic", topic, "--allow", "alice", "--execute", "--no-undo")
    assert cluster.run(*see).code == 0
    refused: list[Result] = []

    def is_refused(*words: str) -> bool:
        refused.append(cluster.run(*words, user="alice"))
        return refused[-1].code != 0

    for right, words in (
        ("WRITE", ("produce", topic, "--value", "x")),
        ("DESCRIBE_CONFIGS", ("topics", "describe", topic)),
        ("READ", ("consume", topic, "-o", "beginning", "-e")),
        ("DELETE", ("topics", "trim", topic, "--before", "end", "--execute")),
    ):
        until(lambda: is_refused(*words), f"alice may {words}")  # noqa: B023
        said = f"{refused[-1].err} {refused[-1].out.decode()}"
        assert f"not authorized: {right} on topic {topic} (TOPIC_AUTHORIZATION_FAILED)" in said, said
        line = re.search(r"`kcli (acls add [^`]*)` grants it", said)
        assert line is not None, said
        assert cluster.run(*line[1].split(), "--execute", "--no-undo").code == 0
        until(lambda: cluster.run(*words, user="alice").code == 0, f"alice may not {words} with {line[1]}")  # noqa: B023
    cluster.rows("acls", "remove", "--all", "--execute", "--no-undo")


def test_who_is_set_by_kcli_logs_in_everywhere_and_kafka_configs_tells(cluster: Cluster) -> None:
    password = "kims secret"
    path = cluster.folder / "password"
    path.write_text(password)
    path.chmod(0o600)
    cluster.rows("users", "set", "kim", "--password-file", str(path), "--execute")
    told = cluster.tool(CONFIGS, "--describe", "--entity-type", "users", "--entity-name", "kim")
    assert "SCRAM-SHA-256=iterations=8192" in told
    assert "SCRAM-SHA-512=iterations=8192" in told
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        cluster.login("kim", "kim", password, mechanism)
        until(lambda: cluster.run("topics", "list", user="kim").code == 0, "kim logs in")
        login = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": mechanism,
            "sasl.username": "kim",
            "sasl.password": password,
        }
        theirs = AdminClient({"bootstrap.servers": cluster.kafka.at("SASL"), **login})
        assert theirs.list_topics(timeout=10).cluster_id
    cluster.tool(CONFIGS, "--alter", "--entity-type", "users", "--entity-name", "lee",
                 "--add-config", "SCRAM-SHA-256=[iterations=5000,password=lees-secret]")  # fmt: skip
    assert cluster.rows("users", "describe", "lee") == [
        {"user": "lee", "mechanism": "SCRAM-SHA-256", "iterations": 5000}
    ]
    wrong = cluster.rows("users", "delete", "lee", "--mechanism", "SCRAM-SHA-512", "--execute", code=1)
    assert [row["result"] for row in wrong] == ["absent"]
    assert len(cluster.rows("users", "delete", "lee", "kim", "--execute")) == 3
    until(lambda: cluster.run("topics", "list", user="kim").code == 5, "kim is not let in any more")
    assert {row["user"] for row in cluster.rows("users")} == {"admin", "alice", "zoe"}


def test_tokens_of_kcli_log_in_and_kafkas_tool_tells_and_ends_them(cluster: Cluster) -> None:
    admin = str(cluster.folder / "admin.properties")
    (made,) = cluster.rows("tokens", "create", "--renewer", "alice", "--max-lifetime", "1h", user="admin")
    assert (made["owner"], made["requester"], made["renewers"]) == ("User:admin", "User:admin", ["User:alice"])
    where = ("--bootstrap-server", cluster.kafka.at("SASL"), "--command-config", admin)
    cluster.login("token", made["token_id"], made["hmac"], token=True)
    until(lambda: cluster.run("topics", "list", user="token").code == 0, "the token logs in")
    told = cluster.kafka.tool(TOKENS, *where, "--describe", "--owner-principal", "User:admin")
    assert made["token_id"] in told
    assert made["hmac"] in told
    refused = cluster.run("tokens", "create", user="token")
    assert refused.code == 1
    assert "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED" in refused.err
    (row,) = cluster.rows("tokens", "renew", made["token_id"], "--for", "30m", user="admin")
    assert row["result"] == "renewed"
    assert row["new"] < row["old"]
    printed = cluster.kafka.tool(
        TOKENS, *where, "--create", "--max-life-time-period", "-1", "--owner-principal", "User:alice"
    )

    def of_alice() -> list[Any]:
        rows = cluster.rows("tokens", "list", "--owner", "alice", user="admin")
        return [row for row in rows if row["owner"] == "User:alice"]

    until(of_alice, "the token of alice is listed")
    theirs = of_alice()[0]
    assert theirs["token_id"] in printed, printed
    assert re.search(r"\S{40,}", printed)
    refused = cluster.run("tokens", "expire", theirs["token_id"], "--execute", user="admin")
    assert refused.code == 1
    assert f"delegation token {theirs['token_id']}: " in refused.err  # who asked for it is not whose it is
    cluster.login("alice", "alice", "alice = secret")
    for user, token in (("admin", made), ("alice", theirs)):
        (row,) = cluster.rows("tokens", "expire", token["token_id"], "--execute", user=user)
        assert row["result"] == "expired"
    until(lambda: cluster.rows("tokens", user="admin") == [], "the tokens are gone")
    assert cluster.run("tokens", "list").code == 1


def test_kafkas_own_tools_administer_the_sandbox(cluster: Cluster) -> None:
    with SandboxThread(topics={"orders": 1}, sasl={"admin": "admin-secret"}, super_users=["User:admin"]) as sandbox:

        def tool(main: str, *words: str) -> str:
            login = str(cluster.folder / "admin.properties")
            return cluster.kafka.tool(main, "--bootstrap-server", sandbox.bootstrap, "--command-config", login, *words)

        words = ("--topic", "orders", "--group", "bill", "--resource-pattern-type", "prefixed")
        tool(ACLS, "--add", "--allow-principal", "User:bob", "--consumer", *words)
        told = tool(ACLS, "--list", "--topic", "orders-1", "--resource-pattern-type", "match")
        assert "(principal=User:bob, host=*, operation=READ, permissionType=ALLOW)" in told
        tool(ACLS, "--remove", "--force", "--allow-principal", "User:bob", "--consumer", *words)
        assert sandbox.call(lambda made: made.cluster.access.acls.rules) == set()
        users = ("--entity-type", "users", "--entity-name")
        tool(CONFIGS, "--alter", *users, "lee", "--add-config", "SCRAM-SHA-512=[password=x]")
        assert "SCRAM-SHA-512=iterations=4096" in tool(CONFIGS, "--describe", *users, "lee")
        made = tool(TOKENS, "--create", "--max-life-time-period", "-1")
        (token,) = sandbox.call(lambda made: [one.id for one in made.cluster.access.tokens.living()])
        assert token in made
        assert token in tool(TOKENS, "--describe", "--owner-principal", "User:admin")


def test_brokers_obey_blocks_of_addresses_and_who_can_says_what_they_do(
    cluster: Cluster, topic_name: Callable[[], str]
) -> None:
    """KIP-1276."""
    topic, user = topic_name(), "alice"
    cluster.run("topics", "create", topic, "--wait")
    cluster.login(user, user, "alice = secret")
    denied = ("acls", "add", "--operation", "write", "--topic", topic, "--deny", user, "--deny-host")
    wrong = cluster.run(*denied, "127.9.0.0/33", "--execute")
    assert wrong.code == 2
    assert "such as 10.1.0.0/16" in wrong.err
    cluster.rows("acls", "add", "--operation", "write", "--topic", topic, "--allow", user, "--execute")
    cluster.rows(*denied, "127.9.0.0/16", "--execute")
    assert f"(principal=User:{user}, host=127.9.0.0/16, operation=WRITE, permissionType=DENY)" in cluster.tool(
        ACLS, "--list", "--topic", topic
    )
    told = {row["host"]: row["allowed"] for row in cluster.rows("acls", "who-can", "write", "topic", topic)
            if row["principal"] == f"User:{user}"}  # fmt: skip
    assert told == {"*": True, "127.9.0.0/16": False}
    for host, allowed in (("127.0.0.1", True), ("127.9.2.3", False), ("127.10.0.1", True), ("::ffff:127.9.0.1", False)):
        who = cluster.run("acls", "who-can", "write", "topic", topic, "--principal", user, "--host", host)
        assert who.code == (0 if allowed else 3), host
    assert cluster.run("produce", topic, "--value", "x", user=user).code == 0
    cluster.rows(*denied, "127.0.0.0/31", "--execute")
    until(lambda: cluster.run("produce", topic, "--value", "x", user=user).code == 1, "127.0.0.0/31 is not denied")
    cluster.rows("acls", "remove", "--all", "--execute")
