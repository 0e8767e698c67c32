"""ssl.*, sasl.* and security.protocol of Java and librdkafka become the same settings."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from kcli.config.properties.known import KNOWN, SERVERS
from kcli.config.properties.merged import Properties, read_properties
from kcli.config.properties.names import SECURITY, elsewhere, refusal_of
from kcli.errors import UsageError
from kcli.secret import Secret
from kcli.security import Assertion, Kerberos, OAuth, Sasl, Security, Tls
from tests.each import each

LOGIN = "org.apache.kafka.common.security"


def made(*given: str) -> Properties:
    found = read_properties(None, list(given))
    found.warnings.clear()
    return found


def security(*given: str) -> Security | None:
    return made(*given).security()


def refused(*given: str) -> str:
    with pytest.raises(UsageError) as told:
        security(*given)
    return str(told.value)


def test_nothing_said_is_plaintext() -> None:
    assert security() is None
    assert security("security.protocol=PLAINTEXT") is None
    assert security("security.protocol=plaintext", "enable.ssl.certificate.verification=true") is None


def test_tls_in_both_dialects() -> None:
    java = security(
        "security.protocol=SSL", "ssl.truststore.type=PEM", "ssl.truststore.location=/ca.pem", "ssl.keystore.type=PEM",
        "ssl.keystore.location=/me.pem", "ssl.key.password=pw", "ssl.endpoint.identification.algorithm=",
        "ssl.enabled.protocols=TLSv1.3",
        "ssl.cipher.suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256",
    )  # fmt: skip
    assert java == Security(
        tls=Tls(
            truststore="/ca.pem", truststore_type="PEM", keystore="/me.pem", keystore_type="PEM",
            key_password=Secret("pw"), verify_host=False, minimum="TLSv1.3", maximum="TLSv1.3",
            ciphers="ECDHE-RSA-AES128-GCM-SHA256",
        )
    )  # fmt: skip
    theirs = security(
        "security.protocol=ssl", "ssl.ca.location=/ca.pem", "ssl.certificate.location=/me.pem",
        "ssl.key.location=/me.key",
        "ssl.key.password=pw", "enable.ssl.certificate.verification=false",
    )  # fmt: skip
    assert theirs == Security(
        tls=Tls(ca="/ca.pem", certificate="/me.pem", key="/me.key", key_password=Secret("pw"), verify=False)
    )
    inline = security("security.protocol=SSL", "ssl.keystore.key=KEY", "ssl.keystore.certificate.chain=CHAIN",
                      "ssl.truststore.certificates=CA")  # fmt: skip
    assert inline == Security(tls=Tls(ca_pem="CA", certificate_pem="CHAIN", key_pem=Secret("KEY")))


def test_assertions_in_both_dialects() -> None:
    endpoint = ("security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER",
                "sasl.oauthbearer.token.endpoint.url=https://idp.test/token")  # fmt: skip
    java = security(
        *endpoint, "sasl.oauthbearer.jwt.retriever.class=org.apache.kafka.common.security.oauthbearer."
        "JwtBearerJwtRetriever", "sasl.oauthbearer.assertion.private.key.file=/key.pem",
        "sasl.oauthbearer.assertion.private.key.passphrase=pw", "sasl.oauthbearer.assertion.claim.aud=a",
        "sasl.oauthbearer.assertion.claim.exp.seconds=60", "sasl.oauthbearer.assertion.claim.jti.include=true",
    )  # fmt: skip
    theirs = security(
        *endpoint, "sasl.oauthbearer.method=oidc",
        "sasl.oauthbearer.grant.type=urn:ietf:params:oauth:grant-type:jwt-bearer",
        "sasl.oauthbearer.assertion.private.key.file=/key.pem",
        "sasl.oauthbearer.assertion.private.key.passphrase=pw", "sasl.oauthbearer.assertion.claim.aud=a",
        "sasl.oauthbearer.assertion.claim.exp.seconds=60", "sasl.oauthbearer.assertion.claim.jti.include=true",
    )  # fmt: skip
    assertion = Assertion(key_file="/key.pem", passphrase=Secret("pw"), audience="a", expires=60.0, unique_id=True)
    oauth = OAuth(token_endpoint="https://idp.test/token", grant="jwt_bearer", assertion=assertion)
    assert java == theirs == Security(tls=Tls(), sasl=Sasl(mechanism="OAUTHBEARER", oauth=oauth))


def test_a_file_below_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert security("security.protocol=SSL", "ssl.ca.location=~/ca.pem") == Security(tls=Tls(ca="/home/me/ca.pem"))


def test_passwords_in_both_dialects() -> None:
    expected = Security(sasl=Sasl(mechanism="SCRAM-SHA-512", username="me", password=Secret("pw")), tls=Tls())
    common = ("security.protocol=SASL_SSL",)
    assert security(*common, "sasl.mechanisms=SCRAM-SHA-512", "sasl.username=me", "sasl.password=pw") == expected
    jaas = f'sasl.jaas.config={LOGIN}.scram.ScramLoginModule required username="me" password="pw";'
    assert security(*common, "sasl.mechanism=SCRAM-SHA-512", jaas) == expected


def test_what_was_said_last_wins_whatever_its_dialect() -> None:
    found = security("security.protocol=SSL", "ssl.truststore.certificates=CA", "ssl.ca.location=/mine.pem")
    assert found == Security(tls=Tls(ca="/mine.pem"))
    jaas = f'sasl.jaas.config={LOGIN}.plain.PlainLoginModule required username="a" password="b";'
    both = security(
        "security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN", jaas, "sasl.username=c", "sasl.password=d"
    )
    assert both == Security(sasl=Sasl(mechanism="PLAIN", username="c", password=Secret("d")))


def test_tokens_in_both_dialects() -> None:
    common = ("security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER")
    url = "sasl.oauthbearer.token.endpoint.url=https://idp/token"
    expected = OAuth(token_endpoint="https://idp/token", client_id="id", client_secret=Secret("s"), scope="a b")
    java = security(
        *common, url, "sasl.login.callback.handler.class=org.apache.kafka.x.OAuthBearerLoginCallbackHandler",
        f"sasl.jaas.config={LOGIN}.oauthbearer.OAuthBearerLoginModule required "
        'clientId="id" clientSecret="s" scope="a b";',
    )  # fmt: skip
    newer = security(*common, url, "sasl.oauthbearer.client.credentials.client.id=id", "sasl.oauthbearer.scope=a b",
                     "sasl.oauthbearer.client.credentials.client.secret=s")  # fmt: skip
    theirs = security(*common, url, "sasl.oauthbearer.method=oidc", "sasl.oauthbearer.client.id=id",
                      "sasl.oauthbearer.client.secret=s", "sasl.oauthbearer.scope=a b")  # fmt: skip
    for one in (java, newer, theirs):
        assert one is not None
        assert one.sasl is not None
        assert one.sasl.oauth == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("sasl.oauthbearer.token=abc", OAuth(token=Secret("abc"))),
        ("sasl.oauthbearer.token.file=/t", OAuth(token_file="/t")),
        ("sasl.oauthbearer.token.endpoint.url=file:///t", OAuth(token_file="/t")),
        ("sasl.oauthbearer.token.command=get token 'a b'", OAuth(token_command=("get", "token", "a b"))),
    ],
)
def test_other_places_a_token_is_from(given: str, expected: OAuth) -> None:
    found = security("security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", given)
    assert found is not None
    assert found.sasl is not None
    assert found.sasl.oauth == expected


@pytest.mark.parametrize(
    "given",
    [
        f'sasl.jaas.config={LOGIN}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="alice";',
        "sasl.oauthbearer.config=principal=alice",
    ],
)
def test_a_token_without_a_signature_for_brokers_set_up_for_tests(given: str) -> None:
    found = security("security.protocol=SASL_PLAINTEXT", "sasl.mechanism=OAUTHBEARER", given)
    assert found is not None
    assert found.sasl is not None
    assert found.sasl.oauth is not None
    assert found.sasl.oauth.token is not None
    header, claims, signature = found.sasl.oauth.token.reveal().split(".")
    decoded: list[Any] = [json.loads(base64.urlsafe_b64decode(part + "==")) for part in (header, claims)]
    assert decoded[0] == {"alg": "none"}
    assert decoded[1]["sub"] == "alice"
    assert decoded[1]["exp"] - decoded[1]["iat"] == 3600
    assert signature == ""


def test_kerberos() -> None:
    found = security("security.protocol=SASL_PLAINTEXT", "sasl.mechanism=GSSAPI", "sasl.kerberos.service.name=kafka",
                     "sasl.kerberos.keytab=/k", "sasl.kerberos.principal=me@R")  # fmt: skip
    assert found == Security(
        sasl=Sasl(mechanism="GSSAPI", kerberos=Kerberos(service="kafka", keytab="/k", principal="me@R"))
    )


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["security.protocol=TLS"], "unknown security.protocol TLS; it is one of PLAINTEXT, SSL"),
        (["security.protocol=SASL-SSL"], "did you mean SASL_SSL"),
        (["sasl.mechanism=PLAIN"], "sasl.mechanism requires security.protocol=SASL_SSL or SASL_PLAINTEXT"),
        (["ssl.ca.location=/x"], "ssl.ca.location requires security.protocol=SSL or SASL_SSL"),
        (["security.protocol=SASL_SSL"], "SASL requires sasl.mechanism"),
        (["security.protocol=SASL_SSL", "sasl.mechanism=SCRAM"], "unknown sasl.mechanism SCRAM"),
        (["security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.username=me"], "sasl.password is missing"),
        (["security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER"], "OAUTHBEARER requires a token"),
        (["security.protocol=SSL", "ssl.enabled.protocols=TLSv1"], "nothing older"),
        (["security.protocol=SSL", "ssl.endpoint.identification.algorithm=htps"], "one of https, (empty), none"),
        (["security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token=x",
          "sasl.login.callback.handler.class=com.evil.Handler"], "kcli cannot run Java classes"),
        (["security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token=x",
          "sasl.oauthbearer.grant.type=urn:jwt"], "expected client_credentials"),
        (["security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token=x",
          "sasl.oauthbearer.jwt.retriever.class=com.evil.Retriever"], "a token command"),
        (["security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token=x",
          "sasl.oauthbearer.assertion.algorithm=none"], "must be RS256 or ES256"),
        (["ssl.engine.factory.class=x"], "kcli cannot run Java classes"),
        (["ssl.crl.location=/x"], "revocation lists are not read"),
        (["sasl.pasword=hunter2"], "did you mean sasl.password"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_and_says_what_to_do(given: list[str], says: str) -> None:
    assert says in refused(*given)


def test_who_one_is_said_to_be_without_being_asked_is_a_warning() -> None:
    found = read_properties(None, ["security.protocol=SSL", "sasl.mechanism=PLAIN", "sasl.kerberos.service.name=kafka"])
    assert found.security() == Security(tls=Tls())
    assert found.warnings == ["property sasl.mechanism is not used with security.protocol=SSL"]
    assert found.notes == ["property sasl.kerberos.service.name is not used with security.protocol=SSL"]


def test_a_password_on_the_command_line_is_warned_about() -> None:
    found = read_properties(None, ["sasl.password=hunter2", "sasl.oauthbearer.token=${env:HOME}"])
    assert len(found.warnings) == 1
    assert "KCLI_SASL_PASSWORD" in found.warnings[0]
    assert "hunter2" not in found.warnings[0]


def test_secrets_are_looked_up_when_they_are_needed_and_not_before() -> None:
    given = ["security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.username=me", "sasl.password=${env:NO_SUCH}"]
    found = read_properties(None, given)
    with pytest.raises(UsageError, match="environment variable NO_SUCH"):
        found.security()
    assert read_properties(None, given, looking=False).security() is not None


def test_no_secret_is_in_any_text_of_the_settings() -> None:
    found = security("security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.username=me", "sasl.password=hunter2",
                     "ssl.keystore.key=PRIVATE", "ssl.keystore.certificate.chain=CHAIN")  # fmt: skip
    assert "hunter2" not in repr(found)
    assert "PRIVATE" not in repr(found)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            ["ssl.key.pem=KEY"],
            "the private key (ssl.key.pem, ssl.keystore.key) has no certificate: set ssl.certificate.location",
        ),
        (["ssl.keystore.key=KEY"], "has no certificate: set"),
        (["ssl.key.pem=${env:NO_SUCH}"], "has no certificate: set"),
        (["ssl.key.location=/me.key"], "ssl.key.location has no certificate: set"),
        (["ssl.certificate.pem=CHAIN"], "has no private key: set ssl.key.location, ssl.key.pem or"),
    ],
)
def test_a_key_and_a_certificate_go_together_which_is_told_without_looking(given: list[str], says: str) -> None:
    with pytest.raises(UsageError) as told:
        read_properties(None, ["security.protocol=SSL", *given], looking=False).security()
    assert says in str(told.value)


@pytest.mark.parametrize(
    "given",
    [
        ["ssl.certificate.location=/both.pem"],
        ["ssl.certificate.pem=-----BEGIN PRIVATE KEY-----"],
        ["ssl.certificate.pem=${env:NO_SUCH}"],
        ["ssl.certificate.location=/me.pem", "ssl.key.pem=KEY"],
        ["ssl.keystore.location=/store.p12", "ssl.key.password=pw"],
    ],
)
def test_a_certificate_that_may_have_its_key_is_left_alone(given: list[str]) -> None:
    found = read_properties(None, ["security.protocol=SSL", *given], looking=False)
    assert found.security() is not None


def test_a_command_with_an_open_quotation_mark_is_refused_in_a_sentence() -> None:
    said = refused("security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER",
                   'sasl.oauthbearer.token.command=print "hunter2')  # fmt: skip
    assert "sasl.oauthbearer.token.command: the command has a quotation mark that is not closed" in said
    assert "hunter2" not in said


NAMES = (Path(__file__).parent / "client_properties.txt").read_text().split()


@each("name", NAMES)
def test_every_property_of_javas_and_librdkafkas_clients_is_known(name: str) -> None:
    """It is a setting here, or about security, or means nothing to kcli, or is refused with a reason."""
    places = [name in KNOWN or name in SERVERS, name in SECURITY, elsewhere(name), bool(refusal_of(name))]
    assert sum(places) == 1
