"""`kcli doctor` and properties files of both dialects, on a real Apache Kafka with every kind of listener."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.certificates import Authority
from tests.idp import Idp
from tests.kafka.secured import USERS, SecuredKafka
from tests.programs import kcat, kcli

pytestmark = pytest.mark.kafka
LOGIN = "org.apache.kafka.common.security"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredKafka]:
    with Idp({"kcli": "idp-secret"}) as idp:
        kafka = SecuredKafka(tmp_path_factory.mktemp("tls"), idp)
        kafka.start()
        assert kcli("topics", "create", "orders", "-b", kafka.bootstrap).code == 0
        yield kafka
        kafka.stop()


Steps = list[dict[str, Any]]


def examine(
    kafka: SecuredKafka, listener: str, properties: dict[str, str], *words: str
) -> tuple[int, list[dict[str, Any]]]:
    """Exit code and steps, with the properties in a file that nobody else can read."""
    path = kafka.folder / "client.properties"
    path.touch(0o600)
    path.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    done = kcli("doctor", "-b", kafka.at(listener), "-F", str(path), "-J", *words)
    steps: Steps = json.loads(done.out)["steps"]
    for secret in USERS.values():
        assert secret not in done.out.decode() + done.err
    return done.code, steps


def fault(steps: Steps) -> tuple[str, str]:
    """(step, fault) of what failed."""
    (failed,) = [step for step in steps if step["status"] == "failed"]
    assert failed["fix"]
    return failed["step"], failed["fault"]


def user(protocol: str, mechanism: str, name: str = "alice", password: str | None = None) -> dict[str, str]:
    return {
        "security.protocol": protocol, "sasl.mechanism": mechanism, "sasl.username": name,
        "sasl.password": USERS[name] if password is None else password,
    }  # fmt: skip


def tls(kafka: SecuredKafka, **more: str) -> dict[str, str]:
    return {"security.protocol": "SSL", "ssl.ca.location": str(kafka.authority.path), **more}


def test_all_is_well_on_each_listener(secured: SecuredKafka) -> None:
    cases: list[tuple[str, dict[str, str]]] = [
        ("CLIENT", {}),
        ("SSL", tls(secured)),
        ("MTLS", tls(secured, **{"ssl.keystore.location": str(secured.client.both), "ssl.keystore.type": "PEM"})),
        ("SASL", user("SASL_PLAINTEXT", "PLAIN")),
        ("SASLSSL", {**tls(secured), **user("SASL_SSL", "SCRAM-SHA-512")}),
    ]
    for listener, properties in cases:
        code, steps = examine(secured, listener, properties, "-t", "orders", "-g", "g")
        assert (code, [step["status"] for step in steps if step["status"] != "ok"]) == (0, []), (listener, steps)
        rights = [step["result"] for step in steps if step["step"] == "rights"]
        assert "Read, Write" in rights[2].removeprefix("topic orders: ")
        assert "Read, Delete, Describe" in rights[3].removeprefix("group g: ")


@pytest.mark.parametrize(
    ("listener", "wanted"),
    [("EXPIRED", ("TLS", "tls-expired")), ("STRANGER", ("TLS", "tls-name")), ("MTLS", ("ApiVersions", "tls-client"))],
)
def test_B20_what_is_wrong_with_certificates(secured: SecuredKafka, listener: str, wanted: tuple[str, str]) -> None:
    code, steps = examine(secured, listener, tls(secured))
    assert (code, fault(steps)) == (5, wanted)


def test_B20_an_authority_that_nobody_knows(secured: SecuredKafka, tmp_path: Path) -> None:
    other = {**tls(secured), "ssl.ca.location": str(Authority(tmp_path, "other").path)}
    code, steps = examine(secured, "SSL", other)
    assert (code, fault(steps)) == (5, ("TLS", "tls-authority"))


def test_the_wrong_protocol_for_a_listener(secured: SecuredKafka) -> None:
    assert fault(examine(secured, "SSL", {})[1]) == ("ApiVersions", "tls-wanted")
    assert fault(examine(secured, "CLIENT", tls(secured))[1]) == ("TLS", "plaintext")
    assert fault(examine(secured, "SASL", {})[1]) == ("metadata", "sasl-wanted")
    assert fault(examine(secured, "CLIENT", user("SASL_PLAINTEXT", "PLAIN"))[1]) == ("SASL", "sasl-unwanted")


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_B19_a_wrong_password(secured: SecuredKafka, mechanism: str) -> None:
    code, steps = examine(secured, "SASL", user("SASL_PLAINTEXT", mechanism, password="not hers"))
    assert (code, fault(steps)) == (5, ("SASL", "password"))


def test_B15_a_mechanism_that_is_not_offered(secured: SecuredKafka) -> None:
    code, steps = examine(secured, "OIDC", user("SASL_PLAINTEXT", "SCRAM-SHA-256"))
    assert (code, fault(steps)) == (5, ("SASL", "mechanism"))
    assert steps[-1]["result"].endswith("the broker offers OAUTHBEARER")


def test_what_a_user_may_not_do_is_named(secured: SecuredKafka) -> None:
    assert kcli("topics", "create", "closed", "-b", secured.bootstrap).code == 0
    secured.tool(
        "org.apache.kafka.tools.AclCommand", "--bootstrap-server", secured.bootstrap, "--add", "--deny-principal",
        "User:zoe", "--operation", "Read", "--operation", "Write", "--topic", "closed",
    )  # fmt: skip
    code, steps = examine(secured, "SASL", user("SASL_PLAINTEXT", "SCRAM-SHA-256", "zoe"), "-t", "closed")
    assert (code, fault(steps)) == (1, ("rights", "not-authorized"))
    assert steps[-1]["fix"].endswith("--allow User:zoe --operation read --operation write --topic closed")


def test_a_file_of_javas_is_read_as_javas_client_reads_it(secured: SecuredKafka) -> None:
    """Truststore in PEM and sasl.jaas.config: Kafka's own console producer writes with it, kcli reads with it."""
    path = secured.folder / "java.properties"
    path.touch(0o600)
    path.write_text(
        "# as Java has it\nsecurity.protocol : SASL_SSL\nsasl.mechanism SCRAM-SHA-512\nssl.truststore.type=PEM\n"
        f"ssl.truststore.location={secured.authority.path}\n"
        f'sasl.jaas.config={LOGIN}.scram.ScramLoginModule required \\\n   username="alice" \\\n   '
        f'password="{USERS["alice"]}";\nmetric.reporters=\n'
    )
    secured.tool(
        "org.apache.kafka.tools.ConsoleProducer", "--bootstrap-server", secured.at("SASLSSL"), "--topic", "orders",
        "--command-config", str(path), stdin=b"from java\n",
    )  # fmt: skip
    done = kcli("consume", "orders", "-b", secured.at("SASLSSL"), "-F", str(path), "-e")
    assert (done.code, done.err) == (0, "")
    assert b"from java\n" in done.out


@pytest.mark.needs("kcat")
def test_a_file_of_librdkafkas_is_read_as_kcat_reads_it(secured: SecuredKafka) -> None:
    path = secured.folder / "kcat.conf"
    path.touch(0o600)
    path.write_text(
        f"bootstrap.servers={secured.at('SASLSSL')}\nsecurity.protocol=SASL_SSL\nsasl.mechanisms=PLAIN\n"
        f"sasl.username=admin\nsasl.password={USERS['admin']}\nssl.ca.location={secured.authority.path}\n"
        "log.connection.close=false\n"
    )
    sent = kcat("-F", str(path), "-P", "-t", "orders", stdin=b"from kcat\n")
    assert sent.code == 0, sent.err
    done = kcli("consume", "orders", "-F", str(path), "-e")
    assert (done.code, done.err) == (0, "")
    assert b"from kcat\n" in done.out
