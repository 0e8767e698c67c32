"""The SASL machines alone: RFC vectors, a server that lies, and bytes that are nothing (B16, B17)."""

from __future__ import annotations

import json
import random
from base64 import b64encode
from urllib.parse import parse_qs, urlparse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.broker.security.aws import payload, presign
from kcli.errors import AuthError
from kcli.proto.sasl import OAuthBearer, Plain
from kcli.proto.saslprep import saslprep
from kcli.proto.scram import FEWEST, Credential, ScramClient, ScramServer, derive
from kcli.text.escape import printable

NONCE = "rOprNGfwEbeRWgbNEkqO"  # RFC 7677, section 3
CHALLENGE = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
PROOF = b"dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
SIGNATURE = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")


def rfc_client() -> ScramClient:
    return ScramClient("SCRAM-SHA-256", "user", "pencil", nonce=NONCE)


# -- PLAIN and OAUTHBEARER ---------------------------------------------------------------------------------------------


def test_plain_is_one_message() -> None:
    plain = Plain("tim", "tanstaaftanstaaf")
    assert plain.first() == b"\0tim\0tanstaaftanstaaf"  # RFC 4616
    assert plain.step(b"") is None
    with pytest.raises(AuthError, match="zero byte"):
        Plain("a\0b", "c")


def test_B17_oauthbearer_is_framed_as_rfc_7628_has_it() -> None:
    bearer = OAuthBearer("vF9dft4qmT", (("host", "x"), ("port", "143")))
    assert bearer.first() == b"n,,\x01auth=Bearer vF9dft4qmT\x01host=x\x01port=143\x01\x01"
    assert bearer.step(b"") is None


def test_B17_a_refusal_is_acknowledged_before_it_is_told() -> None:
    bearer = OAuthBearer("token")
    bearer.first()
    assert bearer.step(b'{"status":"invalid_token"}') == b"\x01"
    with pytest.raises(AuthError, match=r"refused: .*invalid_token"):
        bearer.step(b"more")


@pytest.mark.parametrize("token", ["", "a b", "a\nb", "a\x01b", "é"])
def test_B17_what_cannot_be_a_token_is_not_sent(token: str) -> None:
    with pytest.raises(AuthError, match="token is not one"):
        OAuthBearer(token)


@pytest.mark.parametrize("pair", [("auth", "x"), ("", "x"), ("a1", "x"), ("ä", "x"), ("a", "\x01"), ("a", "\0")])
def test_B17_extensions_are_checked(pair: tuple[str, str]) -> None:
    with pytest.raises(AuthError, match="extension"):
        OAuthBearer("token", (pair,))


def test_what_a_broker_says_is_fit_for_a_terminal() -> None:
    assert printable("no\x1b[31m \u202e") == "no\\x1b[31m \\u202e"
    assert len(printable("x" * 10_000)) < 400


# -- SCRAM -------------------------------------------------------------------------------------------------------------


def test_B16_the_vector_of_rfc_7677() -> None:
    client = rfc_client()
    assert client.first() == b"n,,n=user,r=" + NONCE.encode()
    final = client.step(CHALLENGE)
    assert final is not None
    assert final.rpartition(b",p=")[2] == PROOF
    assert client.step(SIGNATURE) is None


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("name", ["alice", "a,b=c", "zoë", "=2C"])
def test_B16_both_sides_agree_whatever_the_name(mechanism: str, name: str) -> None:
    known = {name: derive(mechanism, "päss, =word".encode(), iterations=8192)}
    client = ScramClient(mechanism, name, "päss, =word", tokenauth=True)
    server = ScramServer(mechanism, known.get)
    final = client.step(server.step(client.first()))
    assert final is not None
    assert client.step(server.step(final)) is None
    assert (server.done, server.user) == (True, name)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_B16_a_wrong_password_is_refused_by_the_server(mechanism: str) -> None:
    server = ScramServer(mechanism, {"a": derive(mechanism, b"right")}.get)
    client = ScramClient(mechanism, "a", "wrong")
    final = client.step(server.step(client.first()))
    assert final is not None
    with pytest.raises(AuthError, match="invalid credentials"):
        server.step(final)
    assert not server.done


@pytest.mark.parametrize("name", ["nobody", ""])
def test_B16_an_unknown_user_is_refused(name: str) -> None:
    with pytest.raises(AuthError, match="invalid credentials"):
        ScramServer("SCRAM-SHA-256", dict[str, Credential]().get).step(ScramClient("SCRAM-SHA-256", name, "p").first())


@pytest.mark.parametrize(
    ("challenge", "words"),
    [
        (CHALLENGE.replace(b"r=r", b"r=X"), "does not continue ours"),
        (b"r=" + NONCE.encode() + b",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "does not continue ours"),
        (CHALLENGE.replace(b"i=4096", b"i=4095"), "accepts 4096 to 1000000"),
        (CHALLENGE.replace(b"i=4096", b"i=2147483647"), "accepts 4096 to 1000000"),
        (CHALLENGE.replace(b"i=4096", b"i=-1"), "no salt or no iterations"),
        (CHALLENGE.replace(b"i=4096", "i=４０９６".encode()), "no salt or no iterations"),
        (CHALLENGE.replace(b"s=W22ZaJ0SNY7soEsUEjb6gQ==", b"s=!"), "no salt or no iterations"),
        (b"e=other-error\x1b", "refused: other-error\\\\x1b"),
        (b"m=ext," + CHALLENGE, "extension"),
        (b"\xff", "not text"),
        (b"", "not a SCRAM message"),
    ],
)
def test_B16_a_challenge_that_is_not_right_ends_it(challenge: bytes, words: str) -> None:
    client = rfc_client()
    client.first()
    with pytest.raises(AuthError, match=words):
        client.step(challenge)


@pytest.mark.parametrize("last", [b"v=AAAA", b"v=", b"x=1", SIGNATURE.replace(b"6", b"7"), b"e=invalid-proof"])
def test_B16_a_server_that_does_not_know_the_password_is_not_trusted(last: bytes) -> None:
    client = rfc_client()
    client.first()
    client.step(CHALLENGE)
    with pytest.raises(AuthError):
        client.step(last)


def test_B16_nothing_comes_after_the_end() -> None:
    client = rfc_client()
    client.first()
    client.step(CHALLENGE)
    client.step(SIGNATURE)
    with pytest.raises(AuthError, match="sent a message after the end"):
        client.step(SIGNATURE)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The same with a few bytes changed, cut out or put in."""
    found = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(found) + 1)
        what = chance.randrange(3)
        if what == 0 and at < len(found):
            found[at] = chance.randrange(256)
        elif what == 1:
            del found[at : at + chance.randint(1, 8)]
        else:
            found[at:at] = chance.randbytes(chance.randint(1, 8))
    return bytes(found)


def test_B14_mutated_frames_end_in_an_auth_error_and_nothing_else() -> None:
    chance = random.Random(7)
    known = derive("SCRAM-SHA-256", b"pencil", b"salt")
    for n in range(3000):
        client = rfc_client()
        client.first()
        try:
            client.step(mutated(CHALLENGE, chance) if n % 2 else chance.randbytes(chance.randrange(60)))
        except AuthError:
            pass
        server = ScramServer("SCRAM-SHA-256", lambda _: known)
        try:
            challenge = server.step(mutated(b"n,,n=user,r=abc", chance))
            server.step(mutated(b"c=biws,r=" + challenge[2:20] + b",p=" + b64encode(b"x" * 32), chance))
        except AuthError:
            pass
        assert not server.done


@given(st.binary(max_size=80), st.binary(max_size=80))
def test_B14_any_bytes_are_an_answer_or_an_auth_error(one: bytes, two: bytes) -> None:
    for made in (rfc_client(), OAuthBearer("t"), Plain("a", "b")):
        made.first()
        try:
            for challenge in (one, two):
                if made.step(challenge) is None:
                    break
        except AuthError:
            pass
        assert not isinstance(made, ScramClient) or made._signature is None


def test_iterations_are_not_computed_before_they_are_checked() -> None:
    client = ScramClient("SCRAM-SHA-512", "u", "p", nonce="n", most=FEWEST)
    client.first()
    with pytest.raises(AuthError, match="4096 to 4096"):
        client.step(b"r=nx,s=c2FsdA==,i=99999999999")


# -- SASLprep ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_", "prepared"),
    [("I\u00adX", "IX"), ("user", "user"), ("USER", "USER"), ("\u00aa", "a"), ("\u2168", "IX"), ("a\u00a0b", "a b")],
)
def test_saslprep_examples_of_rfc_4013(given_: str, prepared: str) -> None:
    assert saslprep(given_) == prepared


@pytest.mark.parametrize("given_", ["\u0007", "\u0627\u0031", "\U000e0001", "\ue000", "\u0627a\u0627"])
def test_saslprep_refuses_what_rfc_4013_prohibits(given_: str) -> None:
    with pytest.raises(ValueError, match=r"allowed|mixed"):
        saslprep(given_)


# -- AWS_MSK_IAM -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "signature"),
    [
        ("", "0fa42ae3d5693777942a7a4028b564f0b372bafa2f71c1a19ad60680e6cb994b"),
        ("XXXXX", "b0619c50b7ecb4a7f6f92bd5f733770df5710e97b25146f97015c0b1db783b05"),
    ],
)
def test_msk_iam_vectors_of_kafka_python(token: str, signature: str) -> None:
    said = json.loads(payload("localhost", "us-east-1", "X" * 20, "X" * 40, token, "20210818T212511Z"))
    assert said.pop("x-amz-security-token", "") == token
    assert said == {
        "version": "2020_10_22",
        "host": "localhost",
        "user-agent": "kcli",
        "action": "kafka-cluster:Connect",
        "x-amz-algorithm": "AWS4-HMAC-SHA256",
        "x-amz-credential": "XXXXXXXXXXXXXXXXXXXX/20210818/us-east-1/kafka-cluster/aws4_request",
        "x-amz-date": "20210818T212511Z",
        "x-amz-signedheaders": "host",
        "x-amz-expires": "900",
        "x-amz-signature": signature,
    }


@pytest.mark.parametrize("token", [None, "to/k+en=="])
def test_msk_iam_signs_as_botocore_does(token: str | None) -> None:
    """aws-msk-iam-sasl-signer is botocore's SigV4QueryAuth over this very request."""
    auth = pytest.importorskip("botocore.auth")
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    host = "kafka.eu-west-1.amazonaws.com"
    request = AWSRequest("GET", f"https://{host}/", params={"Action": "kafka-cluster:Connect"})
    auth.SigV4QueryAuth(Credentials("AKIA", "sec/ret+", token), "kafka-cluster", "eu-west-1", expires=900).add_auth(
        request
    )
    theirs = {name: values[0] for name, values in parse_qs(urlparse(request.url).query).items()}
    assert presign(host, "eu-west-1", "AKIA", "sec/ret+", token or "", theirs["X-Amz-Date"]) == theirs
