"""TLS (B20, B22): who is trusted, under which name, and what is said when not."""

from __future__ import annotations

import asyncio
import os
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kcli.broker.broker import NetworkBroker
from kcli.client import Client
from kcli.errors import ConnectError, TlsError, UsageError
from kcli.grammar.bound import Bound
from kcli.model import Address, TopicPartition
from kcli.sandbox.sandbox import Sandbox
from kcli.secret import Secret
from kcli.security import Security, Tls, tls
from kcli.security.tls import client_context
from kcli.security.tls_faults import explain
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from tests.certificates import PASSWORD, Authority, Issued

from .peers import settings
from .securing import connected, listening, near, served, topics

LOCKED = Secret(PASSWORD)


class Pki:
    """An authority, a server and a client of it, and an authority that nobody trusts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = Authority(folder)
        self.server = self.authority.issue("server")
        self.client = self.authority.issue("client", (), usage="client")
        self.stranger = Authority(folder, "stranger")
        self.trust = Tls(ca=str(self.authority.path))

    def issue(self, name: str, *names: str, **given: Any) -> Issued:
        return self.authority.issue(name, names or ("localhost", "127.0.0.1"), **given)


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    return Pki(tmp_path_factory.mktemp("pki"))


async def told(sandbox: Sandbox, tls: Tls, **given: Any) -> ConnectError:
    async with connected(near(sandbox, tls, **given)) as broker:
        async with asyncio.timeout(10):
            with pytest.raises(ConnectError) as problem:
                await topics(broker)
    assert not problem.value.sent
    return problem.value


# -- who is trusted ----------------------------------------------------------------------------------------------------


async def test_B20_a_given_authority_in_a_file_inline_in_a_store_and_not(pki: Pki) -> None:
    pem = pki.authority.path.read_text()
    store = pki.client.pkcs12(pki.authority.root.made)
    async with Sandbox(topics={"t": 1}, tls=served(pki.server)) as sandbox:
        for tls in (
            pki.trust,
            Tls(ca_pem=pem),
            Tls(ca_pem=pem.replace("\n", "\\n")),  # as it stands in many a properties file
            Tls(ca_pem=" ".join(pem.split("\n"))),
            Tls(truststore=str(pki.authority.path), truststore_type="PEM"),
            Tls(truststore=str(store), truststore_password=LOCKED),
            Tls(ca=str(pki.server.certificate)),  # the certificate itself, as Java trusts it
            Tls(verify=False),
        ):
            async with connected(near(sandbox, tls)) as broker:
                assert await topics(broker) == ["t"], tls
        problem = await told(sandbox, Tls())
        assert isinstance(problem, TlsError)
        assert "name its authority with ssl.ca.location" in str(problem)


async def test_B20_the_host_name_is_verified_unless_that_is_turned_off(pki: Pki) -> None:
    async with Sandbox(topics={"t": 1}, tls=served(pki.issue("elsewhere", "kafka.test"))) as sandbox:
        for host in ("localhost", "127.0.0.1"):
            problem = await told(sandbox, pki.trust, host=host)
            assert isinstance(problem, TlsError)
            assert f"certificate is not for {host}" in str(problem)
        for tls in (pki.trust.replace(verify_host=False), pki.trust.replace(server_name="kafka.test")):
            async with connected(near(sandbox, tls)) as broker:
                assert await topics(broker) == ["t"]


async def test_B20_a_dot_at_the_end_of_a_name_is_no_part_of_it_and_sni_says_the_name(pki: Pki) -> None:
    names: list[str | None] = []
    async with Sandbox(topics={"t": 1}, tls=served(pki.server)) as sandbox:
        assert sandbox.tls is not None
        sandbox.tls.sni_callback = lambda _, name, __: names.append(name)
        async with connected(near(sandbox, pki.trust, host="localhost.")) as broker:
            assert await topics(broker) == ["t"]
    assert names == ["localhost"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"begins": -30, "ends": -1}, "has expired: renew it"),
        ({"begins": 2, "ends": 30}, "not valid yet: check this machine's clock"),
        ({"usage": "client"}, "not made for servers"),
    ],
)
async def test_B20_a_certificate_that_is_no_good_is_told_in_words(pki: Pki, given: dict[str, Any], words: str) -> None:
    async with Sandbox(tls=served(pki.issue("bad", **given))) as sandbox:
        problem = await told(sandbox, pki.trust)
    assert isinstance(problem, TlsError)
    assert problem.exit_code == 5
    assert words in str(problem)


async def test_B20_a_certificate_that_signed_itself_is_told_so(pki: Pki) -> None:
    async with Sandbox(tls=served(pki.stranger.root)) as sandbox:
        assert "signed by itself" in str(await told(sandbox, pki.trust))


async def test_B20_older_versions_of_tls_are_not_spoken(pki: Pki) -> None:
    async with Sandbox(topics={"t": 1}, tls=served(pki.server)) as sandbox:
        assert sandbox.tls is not None
        sandbox.tls.maximum_version = ssl.TLSVersion.TLSv1_2
        async with connected(near(sandbox, pki.trust)) as broker:
            assert await topics(broker) == ["t"]
        assert "TLS handshake" in str(await told(sandbox, pki.trust.replace(minimum="TLSv1.3")))
    assert client_context(pki.trust).minimum_version is ssl.TLSVersion.TLSv1_2


# -- who we are --------------------------------------------------------------------------------------------------------


async def test_B20_mutual_tls_in_every_form_of_key(pki: Pki) -> None:
    ours = pki.client
    store = str(ours.pkcs12(pki.authority.root.made))
    async with Sandbox(topics={"t": 1}, tls=served(pki.server, client_ca=str(pki.authority.path))) as sandbox:
        for given in (
            {"certificate": str(ours.certificate), "key": str(ours.key)},
            {"certificate": str(ours.both)},
            {"certificate": str(ours.locked), "key_password": LOCKED},
            {"certificate_pem": ours.certificate.read_text(), "key_pem": Secret(ours.key.read_text())},
            {"keystore": str(ours.both), "keystore_type": "PEM"},
            {"keystore": str(ours.locked), "keystore_type": "PEM", "key_password": LOCKED},
            {"keystore": store, "keystore_type": "PKCS12", "keystore_password": LOCKED},
            {"keystore": store, "keystore_password": LOCKED},
        ):
            async with connected(near(sandbox, pki.trust.replace(**given))) as broker:
                assert await topics(broker) == ["t"], given


@pytest.mark.parametrize("most", ["TLSv1.2", "TLSv1.3"])
async def test_B20_a_certificate_that_is_wanted_or_not_taken_is_told_in_both_versions(pki: Pki, most: str) -> None:
    trust = pki.trust.replace(maximum=most)
    other = pki.stranger.issue("other", (), usage="client")
    async with Sandbox(tls=served(pki.server, client_ca=str(pki.authority.path))) as sandbox:
        problem = await told(sandbox, trust)
        assert "client certificate" in str(problem)
        assert "ssl.keystore.location" in str(problem)
        assert "client certificate" in str(await told(sandbox, trust.replace(certificate=str(other.both))))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ca": "{dir}/none.pem"}, "ssl.ca.location: .*none.pem: No such file or directory"),
        ({"ca": "{dir}/client.key"}, "contains no certificate"),
        ({"ca_pem": "nothing"}, "ssl.ca.pem: it contains no certificate"),
        ({"ca_pem": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"}, "not a certificate"),
        ({"certificate": "{dir}/client.pem"}, "ssl.certificate.location: there is no private key"),
        ({"key": "{dir}/client.key"}, "there is no certificate for"),
        ({"certificate": "{dir}/client.pem", "key": "{dir}/server.key"}, "does not belong to the certificate"),
        ({"certificate": "{dir}/client.locked.pem"}, "the private key is encrypted: set ssl.key.password"),
        (
            {"certificate": "{dir}/client.locked.pem", "key_password": Secret("no")},
            "password of the private key is wrong: set ssl.key.password",
        ),
        ({"keystore": "{dir}/client.p12", "keystore_password": Secret("no")}, "the password is wrong"),
        ({"truststore": "{dir}/java.jks"}, "keytool -importkeystore -srckeystore .*java.jks -destkeystore .*java.p12"),
        ({"keystore": "{dir}/pem.txt", "keystore_type": "JKS"}, "is a Java keystore, which only Java can read"),
        ({"keystore": "{dir}/noise"}, "neither PEM nor PKCS12"),
        ({"keystore": "{dir}/noise", "keystore_type": "PKCS12"}, "neither PEM nor PKCS12"),
        ({"minimum": "SSLv3"}, "the version SSLv3 is not one of TLSv1.2, TLSv1.3"),
        ({"ciphers": "NONSENSE"}, "OpenSSL supports none of NONSENSE"),
    ],
)
def test_B20_files_that_do_not_serve_are_told_by_name_before_anything_is_connected(
    pki: Pki, given: dict[str, Any], words: str
) -> None:
    pki.client.pkcs12(pki.authority.root.made)
    (pki.folder / "java.jks").write_bytes(b"\xfe\xed\xfe\xed\0\0\0\2")
    (pki.folder / "pem.txt").write_text("text")
    (pki.folder / "noise").write_bytes(b"\x01\x02\x03")
    tls = Tls(**{k: v.format(dir=pki.folder) if isinstance(v, str) else v for k, v in given.items()})
    with pytest.raises(UsageError, match=words):
        Client(ClientSettings(bootstrap=parse_bootstrap("localhost"), security=Security(tls=tls)))


def test_B20_a_pkcs12_store_without_cryptography_is_refused_with_the_way_out(
    pki: Pki, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = str(pki.client.pkcs12(pki.authority.root.made))
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization", None)
    with pytest.raises(UsageError, match=r"openssl pkcs12 -in .*client.p12 -out .*client.pem -nodes"):
        tls.store_as_pem(store, "", LOCKED, "ssl.keystore.location")


def test_B20_keys_in_memory_never_touch_a_file_where_that_can_be(pki: Pki, monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(os, "memfd_create"):
        pytest.skip("this system has no files in memory")
    opened = []
    load = ssl.SSLContext.load_cert_chain
    monkeypatch.setattr(
        ssl.SSLContext, "load_cert_chain", lambda self, path, **given: opened.append(path) or load(self, path, **given)
    )
    before = set(os.listdir("/proc/self/fd"))
    client_context(pki.trust.replace(certificate=str(pki.client.both)))
    assert [path.startswith("/proc/self/fd/") for path in opened] == [True]
    assert set(os.listdir("/proc/self/fd")) == before


# -- strange peers -----------------------------------------------------------------------------------------------------


async def test_B1_a_plaintext_listener_is_told_from_a_tls_one(pki: Pki) -> None:
    async with Sandbox() as sandbox:
        assert "may use plaintext" in str(await told(sandbox, pki.trust))
    async with Sandbox(tls=served(pki.server)) as sandbox, connected(near(sandbox)) as broker:
        with pytest.raises(ConnectError, match="may expect TLS"):
            await topics(broker)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "does not use TLS on this port"),
        (b"\0\0\0\x10nonsense nonsense", "does not use TLS on this port"),
        (b"\x15\x03\x03\x00\x02\x02\x46", "no TLS version"),
        (b"\x15\x03\x03\x00\x02\x02\x28", "no cipher or version of TLS in common"),
        (b"", "closed the connection during the TLS handshake"),
    ],
)
async def test_B20_what_answers_the_handshake_otherwise_is_named(pki: Pki, said: bytes, words: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(said)
        writer.close()

    async with listening(serve) as port:
        security = Security(tls=pki.trust)
        async with connected(NetworkBroker(Address("127.0.0.1", port), 1, settings(security=security))) as broker:
            with pytest.raises(ConnectError, match=words):
                await topics(broker)


async def test_B22_a_handshake_that_is_never_answered_ends_with_the_budget(pki: Pki) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with listening(serve) as port:
        given = settings(security=Security(tls=pki.trust), connect_timeout=0.1)
        async with connected(NetworkBroker(Address("127.0.0.1", port), 1, given)) as broker:
            with pytest.raises(ConnectError, match="does not answer the TLS handshake"):
                await topics(broker)


async def test_B14_noise_instead_of_a_handshake_is_a_connect_error(pki: Pki) -> None:
    import random

    chance = random.Random(3)
    noise = [chance.randbytes(chance.randrange(1, 400)) for _ in range(40)]
    noise += [b"\x16\x03\x03" + len(one).to_bytes(2, "big") + one for one in noise]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(noise[-1])
        writer.close()

    async with listening(serve) as port:
        while noise:
            given = settings(security=Security(tls=pki.trust), connect_timeout=1.0)
            async with connected(NetworkBroker(Address("127.0.0.1", port), 1, given)) as broker:
                with pytest.raises(ConnectError):
                    await topics(broker)
            noise.pop()


def test_a_fault_of_tls_that_nobody_knows_is_told_as_it_is() -> None:
    assert "odd" in str(explain(ssl.SSLError(1, "odd"), "b", "h"))
    assert "odd" in str(explain(OSError("odd"), "b", "h"))


# -- at work -----------------------------------------------------------------------------------------------------------


async def test_B5_a_peer_that_does_not_read_holds_back_who_writes_over_tls(pki: Pki) -> None:
    async with Sandbox(topics={"t": 1}, tls=served(pki.server), advertised="localhost") as sandbox:
        given = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap), security=Security(tls=pki.trust))
        value, count = os.urandom(500_000), 60
        async with Client(given) as client, client.producer(ProducerSettings(acks=0, idempotence=False)) as producer:
            await producer.send_and_wait("t", b"first")
            sandbox.faults.wire.stop_reading("Produce", 0.3)
            sent = [await producer.send("t", value) for _ in range(count)]
            broker = await client.cluster.leader(TopicPartition("t", 0))
            connection = broker._lanes.open["produce"]  # type: ignore[attr-defined]
            most = 0
            while not all(future.done() for future in sent):
                most = max(most, connection._transport.get_write_buffer_size())
                await asyncio.sleep(0.01)
            assert most < 8 * 1024 * 1024
            async with client.consumer() as consumer:
                consumer.assign({TopicPartition("t", 0): Bound("earliest")})
                read: list[bytes] = []
                async with asyncio.timeout(20):
                    while len(read) < count + 1:
                        for fetched in await consumer.poll(0.2):
                            read += [bytes(r.value or b"") for batch in fetched.batches for r in batch]
        assert read == [b"first", *[value] * count]


@pytest.mark.process
def test_tls_costs_nobody_who_does_not_want_it() -> None:
    """The CLI's way to asyncio leaves ssl out until somebody looks for it, and finds it then."""
    program = (
        "import sys; from kcli.cli.runtime.startup import start_lean; start_lean()\n"
        "import asyncio, kcli.client, kcli.settings\n"
        "from kcli.settings import ClientSettings\n"
        "kcli.client.Client(ClientSettings()) if False else None\n"
        "assert 'ssl' not in sys.modules and 'kcli.security' not in sys.modules, 'too early'\n"
        "import kcli.security.tls, ssl\n"
        "assert asyncio.base_events.ssl.SSLContext is ssl.SSLContext\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)


def test_a_folder_of_authorities_has_files_and_links_that_may_lead_nowhere(pki: Pki, tmp_path: Path) -> None:
    folder = tmp_path / "authorities"
    folder.mkdir()
    (folder / "dangling.0").symlink_to(tmp_path / "absent")
    (folder / "4a6481c9.0").symlink_to(pki.client.both)
    client_context(Tls(ca=str(folder)))
    (folder / "zero.0").symlink_to("/dev/zero")
    with pytest.raises(UsageError, match=r"ssl.ca.location: .*/zero.0 is neither a file nor a folder"):
        client_context(Tls(ca=str(folder)))
