"""Credentials against registries that check them: Apicurio's, by a provider's tokens, and srfake behind Go's TLS.

What is wrong ends with 5, by a sentence that says which credentials those were, and no part of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.certificates import PASSWORD, Authority
from tests.cli.conftest import Shell
from tests.each import each
from tests.idp import Idp
from tests.programs import Result
from tests.registry.commands import Commands
from tests.registry.oracles import SecuredApicurio, Srfake
from tests.registry.scripted import Scripted, answer, nobody

WORD, OTHER = "correct-horse", "battery-staple"
ROLES = {"me": ["sr-admin"], "reader": ["sr-readonly"]}
SASL = ("security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.username=me")
INHERIT = ("basic.auth.credentials.source=SASL_INHERIT", *SASL)


class Secured(NamedTuple):
    """Apicurio's registry, the provider that it believes, and the authority of its certificate."""

    registry: SecuredApicurio
    idp: Idp
    authority: Authority


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("pki"))


@pytest.fixture(scope="module")
def secured(authority: Authority) -> Iterator[Secured]:
    with Idp({"me": WORD, "reader": WORD}, roles=ROLES) as idp:
        started = SecuredApicurio(idp, authority.issue("server"))
        yield Secured(started.start(), idp, authority)
        started.stop()


@pytest.fixture
def ask(secured: Secured, registry: None, tmp_path: Path) -> Callable[..., Result]:
    """`registry list` with these properties."""
    commands = Commands(secured.registry.url, tmp_path, "apicurio")

    def run(*properties: str, code: int = 0) -> Result:
        done = commands.run("list", *(word for pair in properties for word in ("-X", pair)), code=code)
        for secret in (WORD, OTHER):
            assert secret not in done.err
        return done

    return run


def prints(text: str) -> str:
    return f"{sys.executable} -c \"print('{text}')\""


# -- logins ------------------------------------------------------------------------------------------------------------


@each(
    ("given", "named"),
    [
        (["basic.auth.user.info=me:{}"], "the user me of basic.auth.user.info"),
        ([*INHERIT, "sasl.password={}"], "the user me of sasl.username"),
    ],
)
def test_a_login(ask: Callable[..., Result], given: list[str], named: str) -> None:
    ask(*(word.format(WORD) for word in given))
    refused = ask(*(word.format(OTHER) for word in given), code=5)
    assert f"refused {named} (HTTP 401)" in refused.err


def test_a_login_in_the_address(secured: Secured, registry: None, tmp_path: Path) -> None:
    for word, code in ((WORD, 0), (OTHER, 5)):
        url = secured.registry.url.replace("//", f"//me:{word}@")
        done = Commands(url, tmp_path).run("list", code=code)
        assert word not in done.err
    assert f"{secured.registry.url} refused the user me of schema.registry.url (HTTP 401)" in done.err


def test_a_login_that_may_only_read(secured: Secured, registry: None, tmp_path: Path) -> None:
    """By the roles in its token."""
    commands = Commands(secured.registry.url, tmp_path)
    path = commands.avro("order.avsc", "id:int")
    as_reader, as_me = (("-X", f"basic.auth.user.info={user}:{WORD}") for user in ("reader", "me"))
    commands.run("list", *as_reader)
    refused = commands.run("register", "roles-value", path, "--execute", *as_reader, code=5)
    assert "does not allow it to the user reader of basic.auth.user.info" in refused.err
    commands.run("register", "roles-value", path, "--execute", *as_me)
    assert commands.run("get", "roles-value", *as_reader).out


def test_without_any(ask: Callable[..., Result]) -> None:
    assert "requires credentials (HTTP 401): set basic.auth.user.info, or bearer.auth.token" in ask(code=5).err


def test_records_are_read_as_they_are_and_written_not_at_all(secured: Secured, registry: None) -> None:
    wrong = ("-X", f"basic.auth.user.info=me:{OTHER}", "--schema-registry", secured.registry.url)
    with SandboxThread(topics={"orders": 1}) as sandbox:
        shell = Shell(sandbox.bootstrap)
        shell.ok("produce", "orders", "--whole", stdin=b"\0\0\0\0\x07raw")
        read = shell("consume", "orders", "-e", *wrong)
        assert (read.returncode, read.stdout) == (5, b"\0\0\0\0\x07raw\n")
        assert b"refused the user me of basic.auth.user.info (HTTP 401)" in read.stderr
        written = shell("produce", "orders", "--value", "{}", "--value-schema", "topic", *wrong)
        assert written.returncode == 5
        assert b"refused the user me of basic.auth.user.info (HTTP 401)" in written.stderr
        assert shell.ok("count", "orders") == b"1\n"
        assert OTHER.encode() not in read.stderr + written.stderr


# -- tokens ------------------------------------------------------------------------------------------------------------


@each(
    ("kind", "says"),
    [("good", ""), ("expired", "{}: the OAuth token expired 6"), ("forged", "refused the token of {} (HTTP 401)")],
)
def test_a_token(ask: Callable[..., Result], secured: Secured, tmp_path: Path, kind: str, says: str) -> None:
    """Itself, of a file, of a command. A forged one is signed by another provider."""
    with Idp({}, roles=ROLES) as other:
        token = (other if kind == "forged" else secured.idp).token("me", -60 if kind == "expired" else None)
    file = tmp_path / "token"
    file.write_text(f"{token}\n")
    for name, value in (
        ("bearer.auth.token", token), ("bearer.auth.token.file", str(file)),
        ("bearer.auth.token.command", prints(token)),
    ):  # fmt: skip
        done = ask(f"{name}={value}", code=5 if says else 0)
        assert says.format(name) in done.err
        assert token not in done.err


def test_a_token_of_a_provider(ask: Callable[..., Result], secured: Secured) -> None:
    def client(secret: str) -> list[str]:
        return [
            f"bearer.auth.issuer.endpoint.url={secured.idp.token_url}", "bearer.auth.client.id=me",
            f"bearer.auth.client.secret={secret}",
        ]  # fmt: skip

    before = len(secured.idp.asked)
    ask(*client(WORD))
    assert len(secured.idp.asked) == before + 1
    refused = ask(*client(OTHER), code=5)
    assert f"the token URL {secured.idp.token_url} gave no token to client me: HTTP 401, invalid_client" in refused.err


def test_the_token_of_the_brokers(ask: Callable[..., Result], secured: Secured) -> None:
    ask(
        "bearer.auth.credentials.source=SASL_OAUTHBEARER_INHERIT", "security.protocol=SASL_SSL",
        "sasl.mechanism=OAUTHBEARER", f"sasl.oauthbearer.token={secured.idp.token('me')}",
    )  # fmt: skip


# -- TLS ---------------------------------------------------------------------------------------------------------------


def test_tls_and_a_login(secured: Secured, registry: None, tmp_path: Path) -> None:
    commands = Commands(secured.registry.secure, tmp_path)
    login = ("-X", f"basic.auth.user.info=me:{WORD}")
    trust = ("-X", f"schema.registry.ssl.ca.location={secured.authority.path}")
    commands.run("list", *login, *trust)
    unknown = commands.run("list", *login, code=5)
    assert "name its authority with schema.registry.ssl.ca.location" in unknown.err
    assert WORD not in unknown.err


@pytest.fixture(scope="module")
def mutual(authority: Authority) -> Iterator[Srfake]:
    """A registry that wants certificates of the authority."""
    server = authority.issue("mutual")
    started = Srfake(certificate=str(server.certificate), key=str(server.key), clients=str(authority.path))
    yield started.start()
    started.stop()


def of_tls(**given: object) -> list[str]:
    return [
        word
        for name, value in given.items()
        for word in ("-X", f"schema.registry.ssl.{name.replace('_', '.')}={value}")
    ]


def test_a_client_certificate(mutual: Srfake, authority: Authority, registry: None, tmp_path: Path) -> None:
    """As two files of PEM, as one, and as Java's store."""
    commands, ours = Commands(mutual.url, tmp_path), authority.issue("client", (), usage="client")
    trust = of_tls(ca_location=authority.path)
    name = commands.avro("order.avsc", "id:int")
    files = of_tls(certificate_location=ours.certificate, key_location=ours.key)
    commands.run("register", "s-value", name, "--execute", *trust, *files)
    commands.run("get", "s-value", *trust, *of_tls(keystore_location=ours.both, keystore_type="PEM"))
    commands.run("get", "s-value", *trust, *of_tls(keystore_location=ours.pkcs12(), keystore_password=PASSWORD))
    wrong = commands.run("list", *trust, *of_tls(keystore_location=ours.pkcs12(), keystore_password=OTHER), code=2)
    assert "schema.registry.ssl.keystore" in wrong.err
    assert OTHER not in wrong.err


@each(
    ("kind", "says"),
    [
        ("none", "requires a client certificate: set schema.registry.ssl.keystore.location, or"),
        ("stranger", "does not trust the authority of our client certificate"),
        ("expired", "has expired: renew it"),
        ("server", "does not accept our client certificate"),
    ],
)
def test_a_client_certificate_that_is_refused(
    mutual: Srfake, authority: Authority, registry: None, tmp_path: Path, kind: str, says: str
) -> None:
    given = of_tls(ca_location=authority.path)
    if kind != "none":
        (tmp_path / "other").mkdir(exist_ok=True)
        issuer = Authority(tmp_path / "other") if kind == "stranger" else authority
        begins, ends = (-9, -2) if kind == "expired" else (0, 30)
        issued = issuer.issue(kind, (), begins, ends, usage="server" if kind == "server" else "client")
        given += of_tls(certificate_location=issued.certificate, key_location=issued.key)
    refused = Commands(mutual.url, tmp_path).run("list", *given, code=5)
    assert says in refused.err
    assert kind == "none" or str(issued.certificate) in refused.err


# -- other origins -----------------------------------------------------------------------------------------------------


def test_a_redirect_is_refused_and_gets_no_credentials(registry: None, tmp_path: Path) -> None:
    with Scripted(answer(["evil"])) as other:
        sends = Srfake(redirect=f"{other.url}/subjects").start()
        try:
            for given in (f"basic.auth.user.info=me:{WORD}", f"bearer.auth.token={WORD}"):
                refused = Commands(sends.url, tmp_path).run("list", "-X", given, code=5)
                assert (
                    f"{sends.url} sends us to {other.url}/subjects (HTTP 307); redirects are not followed"
                    in refused.err
                )
                assert WORD not in refused.err
        finally:
            sends.stop()
        assert other.asked == []


def test_a_login_of_one_address_is_not_sent_to_the_next(secured: Secured, registry: None, tmp_path: Path) -> None:
    """That of an address where nothing listens: the next one, which answers, sees no login."""
    with Scripted(answer([])) as other:
        dead = nobody().replace("//", f"//me:{WORD}@")
        Commands(f"{dead},{other.url}", tmp_path).run("list")
        assert [asked.headers.get("authorization") for asked in other.asked] == [None]
        both = f"{dead},{secured.registry.url}"
        refused = Commands(both, tmp_path).run("list", code=5)
        assert f"{secured.registry.url} requires credentials (HTTP 401)" in refused.err
