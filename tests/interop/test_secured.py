"""Strangers at the sandbox's secured listeners: librdkafka by kcat and confluent-kafka, kafka-python, aiokafka."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.helpers import create_ssl_context
from confluent_kafka import Producer
from kafka import KafkaConsumer

from kcli.sandbox.access.tls import make_certificates
from kcli.sandbox.thread import SandboxThread

USERS = {"alice": "correct horse"}
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("secured")


@pytest.fixture(scope="module")
def secured(folder: Path) -> Iterator[SandboxThread]:
    """TLS and SASL, sessions that last 1.2 seconds."""
    with SandboxThread(
        tls=make_certificates(folder), sasl=USERS, advertised="localhost", session_lifetime=1.2, topics={"t": 1}
    ) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def plain() -> Iterator[SandboxThread]:
    """SASL without TLS."""
    with SandboxThread(sasl=USERS, topics={"t": 1}) as sandbox:
        yield sandbox


def librdkafka(mechanism: str, folder: Path, password: str = USERS["alice"]) -> dict[str, Any]:
    return {
        "security.protocol": "SASL_SSL", "ssl.ca.location": str(folder / "ca.pem"), "sasl.mechanism": mechanism,
        "sasl.username": "alice", "sasl.password": password,
    }  # fmt: skip


@pytest.mark.needs("kcat")
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kcat_writes_and_reads_over_sasl_ssl(secured: SandboxThread, folder: Path, mechanism: str) -> None:
    options = [word for key, value in librdkafka(mechanism, folder).items() for word in ("-X", f"{key}={value}")]
    topic = f"kcat-{mechanism}"
    done = subprocess.run(
        ["kcat", "-b", secured.bootstrap, *options, "-P", "-t", topic], input=b"one\ntwo\n", timeout=30, check=True
    )
    done = subprocess.run(
        ["kcat", "-b", secured.bootstrap, *options, "-C", "-q", "-t", topic, "-o", "beginning", "-e"],
        capture_output=True, timeout=30, check=True,
    )  # fmt: skip
    assert done.stdout == b"one\ntwo\n"


@pytest.mark.needs("kcat")
def test_kcat_with_a_wrong_password_is_refused(secured: SandboxThread, folder: Path) -> None:
    options = [word for key, value in librdkafka("PLAIN", folder, "no").items() for word in ("-X", f"{key}={value}")]
    done = subprocess.run(
        ["kcat", "-b", secured.bootstrap, *options, "-L", "-m", "2"], capture_output=True, timeout=30, check=False
    )
    assert done.returncode != 0
    assert b"Invalid username or password" in done.stderr


def test_librdkafka_renews_its_sessions_here(secured: SandboxThread, folder: Path) -> None:
    """Its clock starts at nine tenths of the life it was told."""
    producer = Producer({"bootstrap.servers": secured.bootstrap, **librdkafka("SCRAM-SHA-256", folder)})
    failures: list[object] = []
    before = secured.call(lambda sandbox: sandbox.seen.get(17, 0))
    for n in range(25):
        producer.produce("renewed", b"%d" % n, on_delivery=lambda error, _: failures.append(error) if error else None)
        producer.flush(0.1)
        producer.poll(0.08)
    assert producer.flush(10) == 0
    assert failures == []
    assert secured.call(lambda sandbox: sandbox.seen[17]) > before + 2


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kafka_python_reads_over_sasl_ssl(secured: SandboxThread, folder: Path, mechanism: str) -> None:
    consumer = KafkaConsumer(
        bootstrap_servers=secured.bootstrap, security_protocol="SASL_SSL", ssl_cafile=str(folder / "ca.pem"),
        sasl_mechanism=mechanism, sasl_plain_username="alice", sasl_plain_password=USERS["alice"],
    )  # fmt: skip
    assert "t" in consumer.topics()
    consumer.close()


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_aiokafka_writes_over_sasl_with_and_without_tls(
    secured: SandboxThread, plain: SandboxThread, folder: Path, mechanism: str
) -> None:
    for sandbox, more in (
        (plain, {"security_protocol": "SASL_PLAINTEXT"}),
        (
            secured,
            {"security_protocol": "SASL_SSL", "ssl_context": create_ssl_context(cafile=str(folder / "ca.pem"))},
        ),
    ):
        async with AIOKafkaProducer(
            bootstrap_servers=sandbox.bootstrap, sasl_mechanism=mechanism, sasl_plain_username="alice",
            sasl_plain_password=USERS["alice"], **more,
        ) as producer:  # fmt: skip
            assert (await producer.send_and_wait("t", b"x", partition=0)).partition == 0
