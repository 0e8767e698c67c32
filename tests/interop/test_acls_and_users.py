"""Strangers' admin clients at the sandbox: kafka-python and librdkafka set ACLs and users, kcli reads them, and the
reverse; who was set by them can log in."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaException
from confluent_kafka import admin as librdkafka
from kafka import admin as python
from kafka.errors import KafkaError

from kcli.acls import Acl, exactly
from kcli.admin.acls import create_acls, delete_acls, describe_acls
from kcli.admin.tokens import create_token
from kcli.admin.users import Password, alter_credentials, describe_users
from kcli.client import Client
from kcli.sandbox.thread import SandboxThread
from kcli.secret import Secret
from kcli.security import Sasl, Security
from kcli.settings import ClientSettings, parse_bootstrap

ADMIN = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-256", "sasl.username": "admin"}
SECOND = 10.0


@pytest.fixture
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(
        topics={"orders": 1}, sasl={"admin": "a", "bob": "b"}, super_users=["User:admin"], auto_create=False
    ) as made:
        yield made


def ours(sandbox: SandboxThread) -> Client:
    sasl = Sasl(mechanism="PLAIN", username="admin", password=Secret("a"))
    return Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap), security=Security(sasl=sasl)))


def kafka_python(sandbox: SandboxThread) -> python.KafkaAdminClient:
    return python.KafkaAdminClient(
        bootstrap_servers=sandbox.bootstrap, security_protocol="SASL_PLAINTEXT", sasl_mechanism="SCRAM-SHA-512",
        sasl_plain_username="admin", sasl_plain_password="a",
    )  # fmt: skip


def confluent(sandbox: SandboxThread) -> librdkafka.AdminClient:
    return librdkafka.AdminClient({"bootstrap.servers": sandbox.bootstrap, **ADMIN, "sasl.password": "a"})


def rules(sandbox: SandboxThread) -> set[Acl]:
    return set(sandbox.call(lambda made: set(made.cluster.access.acls.rules)))


READ = Acl("topic", "orders", "literal", "User:bob", "*", "read", "allow")
MEMBER = Acl("group", "bill", "prefixed", "User:bob", "10.0.0.1", "all", "deny")


async def test_kafka_python_sets_reads_and_removes_acls(sandbox: SandboxThread) -> None:
    client = kafka_python(sandbox)
    theirs = [
        python.ACL("User:bob", "*", python.ACLOperation.READ, python.ACLPermissionType.ALLOW,
                   python.ResourcePattern(python.ResourceType.TOPIC, "orders")),
        python.ACL("User:bob", "10.0.0.1", python.ACLOperation.ALL, python.ACLPermissionType.DENY,
                   python.ResourcePattern(python.ResourceType.GROUP, "bill", python.ACLResourcePatternType.PREFIXED)),
    ]  # fmt: skip
    try:
        assert len(client.create_acls(theirs)["succeeded"]) == 2
        assert rules(sandbox) == {READ, MEMBER}
        async with ours(sandbox) as client_of_ours:
            assert set(await describe_acls(client_of_ours.cluster)) == {READ, MEMBER}
        every = python.ACLFilter(
            None, None, python.ACLOperation.ANY, python.ACLPermissionType.ANY,
            python.ResourcePatternFilter(python.ResourceType.ANY, None, python.ACLResourcePatternType.ANY),
        )  # fmt: skip
        found, error = client.describe_acls(every)
        assert not isinstance(error, KafkaError)
        assert sorted(found, key=repr) == sorted(theirs, key=repr)
        matching = python.ACLFilter(
            None, None, python.ACLOperation.ANY, python.ACLPermissionType.ANY,
            python.ResourcePatternFilter(python.ResourceType.GROUP, "billing", python.ACLResourcePatternType.MATCH),
        )  # fmt: skip
        ((_, gone, _),) = client.delete_acls([matching])
        assert [one.principal for one in gone] == ["User:bob"]
        assert rules(sandbox) == {READ}
    finally:
        client.close()


async def test_librdkafka_sets_reads_and_removes_acls(sandbox: SandboxThread) -> None:
    client = confluent(sandbox)
    kinds, operations = librdkafka.ResourceType, librdkafka.AclOperation
    patterns, permissions = librdkafka.ResourcePatternType, librdkafka.AclPermissionType
    theirs = [
        librdkafka.AclBinding(
            kinds.TOPIC, "orders", patterns.LITERAL, "User:bob", "*", operations.READ, permissions.ALLOW
        ),
        librdkafka.AclBinding(
            kinds.GROUP, "bill", patterns.PREFIXED, "User:bob", "10.0.0.1", operations.ALL, permissions.DENY
        ),
    ]  # fmt: skip
    for done in client.create_acls(theirs).values():
        done.result(SECOND)
    assert rules(sandbox) == {READ, MEMBER}
    async with ours(sandbox) as mine:
        other = READ._replace(name="*", operation="write")
        assert await create_acls(mine.cluster, [other]) == {other: None}
        every = librdkafka.AclBindingFilter(
            kinds.TOPIC, "orders", patterns.MATCH, None, None, operations.ANY, permissions.ANY
        )
        assert len(client.describe_acls(every).result(SECOND)) == 2
        assert await delete_acls(mine.cluster, [other]) == {other: None}
    ((_, gone),) = client.delete_acls([every]).items()
    assert [one.name for one in gone.result(SECOND)] == ["orders"]
    assert rules(sandbox) == {MEMBER}
    wrong = librdkafka.AclBinding(
        kinds.BROKER, "other", patterns.LITERAL, "User:b", "*", operations.ALTER, permissions.ALLOW
    )
    with pytest.raises(KafkaException, match="the only one of the CLUSTER resource is kafka-cluster"):
        next(iter(client.create_acls([wrong]).values())).result(SECOND)


@pytest.mark.needs("kcat")
@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
async def test_users_that_strangers_set_log_in_here_and_users_of_ours_there(
    mechanism: str, sandbox: SandboxThread
) -> None:
    number = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}[mechanism]
    info = librdkafka.ScramCredentialInfo(librdkafka.ScramMechanism(number), 5000)
    change = librdkafka.UserScramCredentialUpsertion("carl", info, b"carls secret")
    stranger = confluent(sandbox)
    for done in stranger.alter_user_scram_credentials([change]).values():
        done.result(SECOND)
    client = kafka_python(sandbox)
    try:
        client.alter_user_scram_credentials(
            [
                python.UserScramCredentialUpsertion(
                    "paul", python.ScramMechanism(number), "pauls secret", iterations=6000
                )
            ]
        )
        told = client.describe_user_scram_credentials(["carl"])
    finally:
        client.close()
    assert "5000" in str(told)
    async with ours(sandbox) as mine:
        found = await describe_users(mine.cluster, ["carl", "paul"])
        assert found == {"carl": {mechanism: 5000}, "paul": {mechanism: 6000}}
        given = Password(user="kim", mechanism=mechanism, password=Secret("kims secret"))
        assert await alter_credentials(mine.cluster, [given]) == {("kim", mechanism): None}
    described = stranger.describe_user_scram_credentials(["kim"])["kim"].result(SECOND)
    assert [one.iterations for one in described.scram_credential_infos] == [8192]
    sandbox.call(lambda made: made.cluster.access.acls.add(READ._replace(principal="User:*", operation="describe")))
    for name in ("carl", "paul", "kim"):
        done = kcat(sandbox, mechanism, name, f"{name}s secret")
        assert done.returncode == 0, done.stderr
        assert b"orders" in done.stdout
    assert kcat(sandbox, mechanism, "kim", "wrong").returncode != 0


def kcat(sandbox: SandboxThread, mechanism: str, name: str, password: str) -> subprocess.CompletedProcess[bytes]:
    words = {**ADMIN, "sasl.mechanism": mechanism, "sasl.username": name, "sasl.password": password}
    options = [word for key, value in words.items() for word in ("-X", f"{key}={value}")]
    return subprocess.run(
        ["kcat", "-b", sandbox.bootstrap, *options, "-L", "-m", "1"], capture_output=True, timeout=30, check=False
    )


@pytest.mark.needs("kcat")
async def test_acls_bind_librdkafka(sandbox: SandboxThread) -> None:
    """Without an ACL kcat may not write; with write it may; and it still may not read."""
    words = {**ADMIN, "sasl.username": "bob", "sasl.password": "b", "topic.message.timeout.ms": "3000"}
    options = [word for key, value in words.items() for word in ("-X", f"{key}={value}")]

    def run(*more: str) -> subprocess.CompletedProcess[bytes]:
        line = ["kcat", "-b", sandbox.bootstrap, *options, *more, "-t", "orders"]
        return subprocess.run(line, input=b"one\n", capture_output=True, timeout=30, check=False)

    refused = run("-P")
    assert refused.returncode != 0
    assert b"uthorization failed" in refused.stderr
    sandbox.call(lambda made: made.cluster.access.acls.add(READ._replace(operation="write")))
    done = run("-P")
    assert done.returncode == 0, done.stderr
    assert b"uthorization failed" in run("-C", "-e", "-o", "beginning").stderr
    sandbox.call(lambda made: made.cluster.access.acls.add(READ))
    assert run("-C", "-e", "-q", "-o", "beginning").stdout == b"one\n"
    sandbox.call(lambda made: made.cluster.access.acls.remove(exactly(READ)))
    assert b"uthorization failed" in run("-C", "-e", "-o", "beginning").stderr


async def test_a_token_of_the_sandbox_is_told_in_full_to_its_owner_only(sandbox: SandboxThread) -> None:
    async with ours(sandbox) as mine:
        made = await create_token(mine.cluster, "User:bob", ["User:ann"])
    assert made.owner == "User:bob"
    assert made.requester == "User:admin"
    assert repr(made.hmac) == "***"
