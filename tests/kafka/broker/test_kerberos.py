"""GSSAPI (B15) against a real Apache Kafka and a real KDC: where krb5-kdc and python-gssapi are. Installs nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kcli.client import Client
from kcli.errors import AuthError
from kcli.proto.messages.metadata import MetadataRequest
from kcli.security import Kerberos, Sasl, Security, Tls
from kcli.settings import ClientSettings, parse_bootstrap
from tests.certificates import Authority
from tests.kafka import kdc as kerberos
from tests.kafka.cluster import Kafka
from tests.ports import free_ports
from tests.programs import kcli

pytestmark = [pytest.mark.kafka, pytest.mark.needs("krb5kdc", "kdb5_util", "kadmin.local")]


class KerberizedKafka(Kafka):
    """One node with a GSSAPI listener, at `gssapi`."""

    def __init__(self, kdc: kerberos.Kdc) -> None:
        super().__init__(1)
        node, (port, tls_port) = self.nodes[0], free_ports(2)
        self.gssapi, self.over_tls = f"localhost:{port}", f"localhost:{tls_port}"
        self.authority = Authority(kdc.folder)
        own = (
            f"CLIENT://127.0.0.1:{node.client_port},INTERNAL://127.0.0.1:{node.internal_port},KRB://{self.gssapi},"
            f"KRBSSL://{self.over_tls}"
        )
        self.options = [f"-Djava.security.krb5.conf={kdc.config}"]
        self.settings = {
            "listeners": f"{own},CONTROLLER://127.0.0.1:{node.controller_port}",
            "advertised.listeners": own,
            "listener.security.protocol.map": (
                "CLIENT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT,KRB:SASL_PLAINTEXT,KRBSSL:SASL_SSL"
            ),
            "sasl.enabled.mechanisms": "GSSAPI",
            "sasl.kerberos.service.name": "kafka",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.authority.issue("server").both),
        }
        login = (
            "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true "
            f'keyTab="{kdc.keytab("kafka/localhost")}" principal="kafka/localhost@{kerberos.REALM}";'
        )
        for name in ("krb", "krbssl"):
            self.settings[f"listener.name.{name}.gssapi.connections.max.reauth.ms"] = "1500"
            self.settings[f"listener.name.{name}.gssapi.sasl.jaas.config"] = login


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[KerberizedKafka, Path]]:
    """Kafka, and alice's keytab."""
    pytest.importorskip("gssapi", reason="pip install gssapi (it needs libkrb5-dev)")
    kdc = kerberos.Kdc(tmp_path_factory.mktemp("kdc"))
    before = {name: os.environ.get(name) for name in kdc.environment}
    os.environ |= kdc.environment
    try:
        kdc.start()
        kafka = KerberizedKafka(kdc)
        keytab = kdc.keytab("alice")
        kafka.start()
        yield kafka, keytab
        kafka.stop()
    finally:
        kdc.stop()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


async def ask(kafka: KerberizedKafka, given: Kerberos, tls: Tls | None = None, seconds: float = 0) -> None:
    security = Security(tls=tls, sasl=Sasl(mechanism="GSSAPI", kerberos=given))
    at = kafka.gssapi if tls is None else kafka.over_tls
    async with Client(ClientSettings(bootstrap=parse_bootstrap(at), security=security)) as client:
        await client.cluster.topics()
        broker = await client.cluster.anyone()
        await broker.versions()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            await broker.ask(MetadataRequest(topics=[]))
        if seconds:
            (connection,) = broker._lanes.open.values()  # type: ignore[attr-defined]
            assert connection.renewal.count >= 2


async def test_B15_gssapi_by_keytab(world: tuple[KerberizedKafka, Path]) -> None:
    kafka, keytab = world
    await ask(kafka, Kerberos(principal=f"alice@{kerberos.REALM}", keytab=str(keytab)))


async def test_B15_gssapi_over_tls(world: tuple[KerberizedKafka, Path]) -> None:
    kafka, keytab = world
    tls = Tls(ca=str(kafka.authority.path))
    await ask(kafka, Kerberos(principal=f"alice@{kerberos.REALM}", keytab=str(keytab)), tls)


async def test_B18_gssapi_sessions_are_renewed(world: tuple[KerberizedKafka, Path]) -> None:
    kafka, keytab = world
    await ask(kafka, Kerberos(principal=f"alice@{kerberos.REALM}", keytab=str(keytab)), seconds=3.5)


async def test_B15_gssapi_without_a_ticket_says_kinit(world: tuple[KerberizedKafka, Path]) -> None:
    with pytest.raises(AuthError, match="run kinit, or set a keytab"):
        await ask(world[0], Kerberos())


async def test_B15_gssapi_for_a_service_that_the_kdc_does_not_know(world: tuple[KerberizedKafka, Path]) -> None:
    kafka, keytab = world
    given = Kerberos(principal=f"alice@{kerberos.REALM}", keytab=str(keytab), service="nobody")
    with pytest.raises(AuthError, match=r"nobody@localhost.*check sasl\.kerberos\.service\.name"):
        await ask(kafka, given)


def test_gssapi_records_through_the_command_line(
    world: tuple[KerberizedKafka, Path], topic_name: Callable[[], str]
) -> None:
    kafka, keytab = world
    topic = topic_name()
    at = (
        "-b", kafka.gssapi, "-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanism=GSSAPI",
        "-X", f"sasl.kerberos.keytab={keytab}", "-X", f"sasl.kerberos.principal=alice@{kerberos.REALM}",
    )  # fmt: skip
    assert kcli("topics", "create", topic, *at).code == 0
    assert kcli("produce", topic, *at, stdin=b"one\ntwo\n").code == 0
    shown = kcli("consume", topic, *at, "-o", "beginning", "-e")
    assert (shown.code, shown.out) == (0, b"one\ntwo\n"), shown
