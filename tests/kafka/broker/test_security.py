"""TLS and SASL against a real Apache Kafka: every listener with every mechanism, and what can be wrong with them."""

from __future__ import annotations

import asyncio
import json
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer as Librdkafka
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from kcli.admin.topics.topics import NewTopic
from kcli.admin.users import Password, alter_credentials
from kcli.client import Client
from kcli.consumer.consumer import Consumer
from kcli.errors import AuthError, BrokerError, ConnectError, KcliError, TlsError
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.proto.messages.metadata import MetadataRequest
from kcli.secret import Secret
from kcli.security import OAuth, Sasl, Security, Tls
from kcli.settings import ClientSettings, GroupSettings, ProducerSettings, parse_bootstrap
from tests.certificates import PASSWORD
from tests.idp import Idp, unsecured
from tests.kafka.artifacts import libs
from tests.kafka.secured import REAUTH_MS, USERS, SecuredKafka
from tests.kafka.tools import java
from tests.programs import kcli, run

pytestmark = pytest.mark.kafka

CLIENT = {"kcli": "idp-secret"}
QUICKLY = 2.0  # seconds within which a refusal is told


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredKafka]:
    with Idp(CLIENT) as idp:
        kafka = SecuredKafka(tmp_path_factory.mktemp("tls"), idp)
        kafka.start()
        yield kafka
        kafka.stop()


def password(mechanism: str, name: str = "alice", said: str | None = None) -> Sasl:
    return Sasl(mechanism=mechanism, username=name, password=Secret(USERS[name] if said is None else said))


def bearer(**given: object) -> Sasl:
    return Sasl(mechanism="OAUTHBEARER", oauth=OAuth(**given))  # type: ignore[arg-type]


def client(kafka: SecuredKafka, listener: str, tls: Tls | None = None, sasl: Sasl | None = None) -> Client:
    security = Security(tls=tls, sasl=sasl)
    return Client(ClientSettings(bootstrap=parse_bootstrap(kafka.at(listener)), security=security))


async def works(kafka: SecuredKafka, listener: str, tls: Tls | None = None, sasl: Sasl | None = None) -> None:
    async with client(kafka, listener, tls, sasl) as one:
        await one.cluster.topics()


async def refusal(kafka: SecuredKafka, listener: str, tls: Tls | None = None, sasl: Sasl | None = None) -> KcliError:
    """What it says, which it must say soon."""
    began = time.monotonic()
    with pytest.raises(KcliError) as told:
        await works(kafka, listener, tls, sasl)
    assert time.monotonic() - began < QUICKLY
    assert told.value.exit_code == 5
    return told.value


# -- TLS ---------------------------------------------------------------------------------------------------------------


def trusting(kafka: SecuredKafka, **given: object) -> Tls:
    return Tls(ca=str(kafka.authority.path), **given)  # type: ignore[arg-type]


async def test_B20_ssl_with_a_given_authority(secured: SecuredKafka) -> None:
    await works(secured, "SSL", trusting(secured))
    await works(secured, "SSL", trusting(secured, minimum="TLSv1.3"))
    await works(secured, "SSL", trusting(secured, maximum="TLSv1.2"))
    await works(secured, "SSL", Tls(ca_pem=secured.authority.path.read_text()))


async def test_B20_mutual_tls_with_pem_encrypted_pem_and_pkcs12(secured: SecuredKafka) -> None:
    ours = secured.client
    key = Secret(PASSWORD)
    store = ours.pkcs12(secured.authority.root.made)
    for tls in (
        trusting(secured, certificate=str(ours.certificate), key=str(ours.key)),
        trusting(secured, certificate=str(ours.locked), key_password=key),
        trusting(secured, certificate_pem=ours.certificate.read_text(), key_pem=Secret(ours.key.read_text())),
        trusting(secured, keystore=str(ours.both), keystore_type="PEM"),
        Tls(truststore=str(store), truststore_password=key, keystore=str(store), keystore_password=key),
    ):
        await works(secured, "MTLS", tls)


async def test_B20_a_client_certificate_is_demanded_and_judged(secured: SecuredKafka) -> None:
    for most in ("", "TLSv1.2"):
        told = await refusal(secured, "MTLS", trusting(secured, maximum=most))
        assert isinstance(told, TlsError)
        assert "requires a client certificate" in str(told)
        assert "ssl.keystore.location" in str(told)
    told = await refusal(secured, "MTLS", trusting(secured, certificate=str(secured.stranger.both)))
    assert isinstance(told, TlsError)
    assert "client certificate" in str(told)


async def test_B20_an_unknown_authority_a_wrong_name_and_an_expired_certificate_are_final(
    secured: SecuredKafka,
) -> None:
    for listener, tls, words in (
        ("SSL", Tls(), "authority that is not trusted here: name its authority with ssl.ca.location"),
        ("STRANGER", trusting(secured), "certificate is not for localhost"),
        ("EXPIRED", trusting(secured), "has expired"),
    ):
        told = await refusal(secured, listener, tls)
        assert isinstance(told, TlsError)
        assert words in str(told)
    await works(secured, "STRANGER", trusting(secured, verify_host=False))
    await works(secured, "STRANGER", trusting(secured, server_name="other.test"))
    await works(secured, "SSL", Tls(verify=False))


async def test_B1_plaintext_and_tls_that_meet_say_so(secured: SecuredKafka) -> None:
    told = await refusal(secured, "CLIENT", trusting(secured))
    assert "the port may use plaintext" in str(told)
    with pytest.raises(ConnectError, match="this port uses TLS"):
        await works(secured, "SSL")


# -- SASL --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
async def test_B15_a_password_over_plaintext_and_tls(secured: SecuredKafka, mechanism: str) -> None:
    await works(secured, "SASL", None, password(mechanism))
    await works(secured, "SASLSSL", trusting(secured), password(mechanism))


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
async def test_B19_a_wrong_password_is_final_and_says_why(secured: SecuredKafka, mechanism: str) -> None:
    for sasl in (password(mechanism, "alice", "wrong"), Sasl(mechanism=mechanism, username="x", password=Secret("y"))):
        told = await refusal(secured, "SASL", None, sasl)
        assert isinstance(told, AuthError)
        assert f"refused the authentication of {sasl.username} ({mechanism}): Authentication failed" in str(told)


async def test_B16_a_password_as_it_was_typed_or_prepared(secured: SecuredKafka) -> None:
    assert USERS["zoe"] == "p\u00e4ssw\u00f6rd"
    await works(secured, "SASL", None, password("SCRAM-SHA-256", "zoe"))
    await works(secured, "SASL", None, password("SCRAM-SHA-512", "zoe", "pa\u0308sswo\u0308rd"))


async def test_B15_a_mechanism_that_is_not_offered_lists_the_offered(secured: SecuredKafka) -> None:
    told = await refusal(secured, "OIDC", None, password("PLAIN"))
    assert isinstance(told, AuthError)
    assert "does not offer PLAIN; it offers OAUTHBEARER" in str(told)


async def test_B15_sasl_where_there_is_none_and_none_where_there_is(secured: SecuredKafka) -> None:
    for listener, tls in (("CLIENT", None), ("SSL", trusting(secured))):
        assert "does not authenticate on this port" in str(await refusal(secured, listener, tls, password("PLAIN")))
    for listener, tls in (("SASL", None), ("SASLSSL", trusting(secured))):
        assert "it may require authentication" in str(await refusal(secured, listener, tls))


async def test_B17_oauthbearer_by_token_file_command_and_oidc(secured: SecuredKafka, tmp_path: Path) -> None:
    token = unsecured("alice")
    file = tmp_path / "token"
    file.write_text(f"{token}\n")
    for sasl in (
        bearer(token=Secret(token)),
        bearer(token_file=str(file)),
        bearer(token_command=("cat", str(file))),
        bearer(token=Secret(token), extensions=(("logicalCluster", "lkc-1"),)),
    ):
        await works(secured, "SASL", None, sasl)
    oidc = OAuth(
        token_endpoint=secured.idp.token_url, client_id="kcli", client_secret=Secret(CLIENT["kcli"]), scope="s"
    )
    await works(secured, "OIDC", None, Sasl(mechanism="OAUTHBEARER", oauth=oidc))
    assert secured.idp.asked[-1]["scope"] == "s"
    wrong = oidc.replace(client_secret=Secret("no"))
    told = await refusal(secured, "OIDC", None, Sasl(mechanism="OAUTHBEARER", oauth=wrong))
    assert "invalid_client" in str(told)


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_B17_a_signed_assertion_instead_of_a_secret(secured: SecuredKafka, tmp_path: Path, algorithm: str) -> None:
    """The properties are those of Kafka's own client, and mean the same to it (KIP-1139, KIP-1258)."""
    key = rsa.generate_private_key(65537, 2048) if algorithm == "RS256" else ec.generate_private_key(ec.SECP256R1())
    secured.idp.keys["kcli"] = key.public_key()
    file = tmp_path / "key.pem"
    file.touch(0o600)
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    template = tmp_path / "template.json"
    template.write_text('{"header": {"kid": "k9"}, "payload": {"sub": "kcli"}}')
    properties = {
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;",
        "sasl.login.callback.handler.class":
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler",
        "sasl.oauthbearer.token.endpoint.url": secured.idp.token_url,
        "sasl.oauthbearer.assertion.private.key.file": str(file),
        "sasl.oauthbearer.assertion.algorithm": algorithm,
        "sasl.oauthbearer.assertion.claim.iss": "kcli",
        "sasl.oauthbearer.assertion.claim.aud": secured.idp.token_url,
        "sasl.oauthbearer.assertion.claim.jti.include": "true",
        "sasl.oauthbearer.assertion.template.file": str(template),
    }  # fmt: skip
    bearer = "org.apache.kafka.common.security.oauthbearer.JwtBearerJwtRetriever"
    for more in ({}, {"sasl.oauthbearer.jwt.retriever.class": bearer}):
        config = tmp_path / "client.properties"
        config.touch(0o600)
        config.write_text("".join(f"{name}={value}\n" for name, value in (properties | more).items()))
        listed = kcli("topics", "list", "-b", secured.at("OIDC"), "-F", str(config))
        assert listed.code == 0, listed.err
        ours = secured.idp.asked[-1]
        theirs = run([
            *java(), f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={secured.idp.token_url}",
            f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.files={file},{template}", "-cp", f"{libs()}/*",
            "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", secured.at("OIDC"), "--list",
            "--command-config", str(config),
        ])  # fmt: skip
        assert secured.idp.asked[-1] is not ours, theirs
        assert shape_of(ours) == shape_of(secured.idp.asked[-1]), theirs
    secured.idp.keys["kcli"] = rsa.generate_private_key(65537, 2048).public_key()
    refused = kcli("topics", "list", "-b", secured.at("OIDC"), "-F", str(config))
    assert refused.code == 5
    assert "invalid_client" in refused.err


def shape_of(form: dict[str, str]) -> tuple[dict[str, str], list[dict[str, str]]]:
    """What was asked, without what differs from one assertion to the next: the header and the names of its claims."""
    jwt = form.get("client_assertion") or form["assertion"]
    header, claims = (json.loads(urlsafe_b64decode(part + "==")) for part in jwt.split(".")[:2])
    varying = ("iat", "exp", "nbf", "jti")
    assert claims["exp"] - claims["nbf"] == 360
    rest = {name: "" if name in varying else value for name, value in claims.items()}
    return {n: v for n, v in form.items() if not n.endswith("assertion")}, [header, rest]


async def test_B17_oauthbearer_over_tls(secured: SecuredKafka) -> None:
    await works(secured, "SASLSSL", trusting(secured), bearer(token=Secret(unsecured("alice"))))


async def test_B17_a_token_that_the_broker_refuses_is_final_with_its_reason(secured: SecuredKafka) -> None:
    told = await refusal(secured, "OIDC", None, bearer(token=Secret(secured.idp.token("kcli") + "x")))
    assert isinstance(told, AuthError)
    assert "invalid_token" in str(told)
    assert "expired" in str(await refusal(secured, "SASL", None, bearer(token=Secret(unsecured("alice", -5)))))


# -- re-authentication -------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.timeout(240)  # a busy machine renews late, then each client takes up to ten times as long
async def test_B18_sessions_are_renewed_under_traffic_and_nothing_is_lost(
    secured: SecuredKafka, topic_name: Callable[[], str]
) -> None:
    """A client of each mechanism, side by side: they wait for the same renewals."""
    kinds = {
        topic_name(): kind for kind in [("PLAIN", -1), ("SCRAM-SHA-512", -1), ("OAUTHBEARER", -1), ("SCRAM-SHA-256", 0)]
    }
    for topic in kinds:
        assert kcli("topics", "create", topic, "-p", "2", "-b", secured.bootstrap).code == 0
    counts = await asyncio.gather(*(_flood(secured, topic, *kind) for topic, kind in kinds.items()))
    for topic, produced in zip(kinds, counts, strict=True):
        lines = kcli("consume", topic, "-b", secured.bootstrap, "-o", "beginning", "-e").out.split()
        assert sorted(map(int, lines)) == list(range(produced))


async def _flood(secured: SecuredKafka, topic: str, mechanism: str, acks: int) -> int:
    """Produce and read through four renewals; how many records, each of which was read once."""
    sasl = bearer(token=Secret(unsecured("alice"))) if mechanism == "OAUTHBEARER" else password(mechanism)
    lifetime = 2.5 * REAUTH_MS / 1000
    renewed: list[object] = []
    async with client(secured, "REAUTH", None, sasl) as one:
        watch = asyncio.create_task(_renewals(one, renewed))
        produced, read = await _produce(one, topic, acks, lifetime, lambda: len(renewed) >= 4)
        watch.cancel()
    assert len({id(renewal) for renewal in renewed}) >= 2, f"{mechanism}: neither producing nor fetching was renewed"
    assert len(renewed) >= 4, mechanism
    assert sorted(read) == list(range(produced)), mechanism
    return produced


async def test_B18_sessions_are_renewed_over_tls(secured: SecuredKafka) -> None:
    async with client(secured, "REAUTHSSL", trusting(secured), password("SCRAM-SHA-512")) as one:
        renewed: list[object] = []
        watch = asyncio.create_task(_renewals(one, renewed))
        broker = await one.cluster.anyone()
        end = time.monotonic() + REAUTH_MS / 1000 + 1
        while time.monotonic() < end:
            assert await asyncio.gather(*(broker.ask(MetadataRequest(topics=[])) for _ in range(20)))
        watch.cancel()
        assert renewed


async def _produce(
    one: Client, topic: str, acks: int, seconds: float, enough: Callable[[], bool]
) -> tuple[int, list[int]]:
    """Records without a pause for so long and until it is enough, at most ten times as long; five requests in flight,
    read back at the same time by the same client: how many, and what was read."""
    begun, count, read = time.monotonic(), 0, list[int]()
    settings = ProducerSettings(acks=acks, idempotence=acks == -1, linger=0.0, batch_size=2000)
    async with one.producer(settings) as producer, one.consumer() as consumer:
        consumer.assign(dict.fromkeys((TopicPartition(topic, 0), TopicPartition(topic, 1)), Bound("earliest")))
        sent = []
        while (passed := time.monotonic() - begun) < seconds or (passed < 10 * seconds and not enough()):
            for _ in range(50):
                sent.append(await producer.send(topic, str(count).encode()))
                count += 1
            read += await _read(consumer, 0)
        await producer.flush()
        await asyncio.gather(*sent)
        async with asyncio.timeout(10):
            while len(read) < count:
                read += await _read(consumer, 0.2)
    return count, read


async def _read(consumer: Consumer, seconds: float) -> list[int]:
    got = await consumer.poll(seconds)
    assert all(fetched.error is None for fetched in got)
    return [int(bytes(record.value or b"")) for fetched in got for batch in fetched.batches for record in batch]


async def _renewals(one: Client, found: list[object]) -> None:
    """Note each re-authentication of any connection."""
    seen: dict[int, int] = {}
    while True:
        for _, broker in one.cluster._pool._brokers.values():  # type: ignore[attr-defined]
            for connection in broker._lanes.open.values():
                renewal = connection.renewal
                if renewal is not None and renewal.count > seen.get(id(renewal), 0):
                    seen[id(renewal)] = renewal.count
                    found.append(renewal)
        await asyncio.sleep(0.02)


# -- who may do what ---------------------------------------------------------------------------------------------------


async def test_what_acls_forbid_is_told_by_name(secured: SecuredKafka, topic_name: Callable[[], str]) -> None:
    topic = topic_name()
    assert kcli("topics", "create", topic, "-b", secured.bootstrap).code == 0
    secured.tool(
        "org.apache.kafka.tools.AclCommand", "--bootstrap-server", secured.bootstrap, "--add",
        "--allow-principal", "User:admin", "--operation", "All", "--topic", topic,
    )  # fmt: skip
    async with client(secured, "SASL", None, password("SCRAM-SHA-256", "admin")) as one:
        async with one.producer(ProducerSettings()) as producer:
            assert (await producer.send_and_wait(topic, b"mine")).offset == 0
    async with client(secured, "SASL", None, password("SCRAM-SHA-256")) as one:
        with pytest.raises(BrokerError, match="TOPIC_AUTHORIZATION_FAILED"):
            async with one.producer(ProducerSettings(idempotence=False)) as producer:
                await producer.send_and_wait(topic, b"not mine")


# -- at the prompt -----------------------------------------------------------------------------------------------------


def test_the_same_properties_serve_kcli_kafkas_own_tools_and_librdkafka(
    secured: SecuredKafka, topic_name: Callable[[], str], tmp_path: Path
) -> None:
    topic = topic_name()
    lines = [
        "security.protocol=SASL_SSL", "sasl.mechanism=SCRAM-SHA-512",
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required "
        f'username="alice" password="{USERS["alice"]}";',
        "ssl.truststore.type=PEM", f"ssl.truststore.location={secured.authority.path}",
    ]  # fmt: skip
    file = tmp_path / "client.properties"
    file.write_text("\n".join(lines))
    file.chmod(0o600)
    at = ("-b", secured.at("SASLSSL"), "-F", str(file))
    assert kcli("topics", "create", topic, *at).code == 0
    assert kcli("produce", topic, *at, stdin=b"one\ntwo\n").code == 0
    read = kcli("consume", topic, *at, "-o", "beginning", "-e")
    assert (read.code, read.out) == (0, b"one\ntwo\n")
    listed = secured.tool(
        "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", secured.at("SASLSSL"),
        "--command-config", str(file), "--list",
    )  # fmt: skip
    assert topic in listed.split()
    stranger = Librdkafka(
        {
            "bootstrap.servers": secured.at("SASLSSL"), "group.id": topic, "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "alice", "sasl.password": USERS["alice"],
            "ssl.ca.location": str(secured.authority.path),
        }
    )  # fmt: skip
    assert topic in stranger.list_topics(timeout=10).topics
    stranger.close()


def test_B19_a_wrong_password_ends_every_command_with_exit_code_5(secured: SecuredKafka, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=alice\nsasl.password=canary\n"
    )
    file.chmod(0o600)
    at = ("-b", secured.at("SASL"), "-F", str(file))
    for words in (("produce", "t"), ("consume", "t", "-e"), ("topics", "list"), ("lag",), ("offsets", "t")):
        began = time.monotonic()
        shown = kcli(*words, *at, stdin=b"x\n")
        assert shown.code == 5, (words, shown)
        assert time.monotonic() - began < QUICKLY + 1, words  # of which a second is for starting Python
        assert "refused the authentication of alice (PLAIN)" in str(shown.err)
        assert "canary" not in str(shown.err)


# -- a user store that is away -----------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_a_user_that_is_away_for_four_seconds_costs_no_record_and_no_member(
    protocol: str, secured: SecuredKafka, topic_name: Callable[[], str]
) -> None:
    topic, name, mechanism = topic_name(), f"bob-{protocol}", "SCRAM-SHA-256"
    right = Password(user=name, mechanism=mechanism, password=Secret("bob-secret"))
    async with Client(secured.bootstrap) as admin:
        await admin.admin.create_topics([NewTopic(topic=topic, partitions=2)])
        assert list((await alter_credentials(admin.cluster, [right])).values()) == [None]
        sasl = Sasl(mechanism=mechanism, username=name, password=Secret("bob-secret"))
        await asyncio.sleep(1)
        async with client(secured, "REAUTH", sasl=sasl) as one, one.producer() as producer:
            group = GroupSettings(group=topic, protocol=protocol, auto_commit_interval=0.5)
            async with one.consumer(group=group) as consumer:
                notices: list[str] = []
                consumer.on_notice = notices.append
                await consumer.subscribe([topic])
                sent: list[asyncio.Future[object]] = []
                read: list[int] = []
                begun = time.monotonic()
                away = back = False
                while (passed := time.monotonic() - begun) < 16 or len(read) < len(sent):
                    assert passed < 60, (len(sent), len(read), notices)
                    if passed > 3 and not away:  # for longer than a session, whose next authentication fails
                        away = True
                        await alter_credentials(admin.cluster, remove=[(name, mechanism)])
                    if passed > 7.5 and not back:
                        back = True
                        await alter_credentials(admin.cluster, [right])
                    if passed < 16:
                        sent.append(await producer.send(topic, str(len(sent)).encode()))  # type: ignore[arg-type]
                    read += await _read(consumer, 0.05)
                await asyncio.gather(*sent)
            assert sorted(read) == list(range(len(sent)))
            assert any("kcli tries to log in again in" in notice for notice in notices)
            assert producer.counts.acked == len(sent)
