"""How a registry is reached, from the properties that other clients have for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcli.config.profiles import chosen
from kcli.config.properties.files import properties as environment
from kcli.config.properties.merged import read_properties
from kcli.errors import UsageError
from kcli.registry.settings import RegistrySettings, registry_of
from kcli.secret import Secret, without_login
from kcli.security import OAuth
from kcli.security.http import Origin
from tests.each import each

SASL = ("security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.username=broker-user", "sasl.password=broker-word")


def settings(*given: str) -> RegistrySettings:
    found = registry_of(read_properties(None, list(given)))
    assert found is not None
    return found


def refused(*given: str) -> str:
    with pytest.raises(UsageError) as problem:
        settings(*given)
    return str(problem.value)


def test_without_a_url_there_is_no_registry() -> None:
    assert registry_of(read_properties(None, ["basic.auth.user.info=a:b"])) is None


def test_several_addresses_in_the_order_they_are_named() -> None:
    found = settings("schema.registry.url=http://a:8081, https://b.example/apis/ccompat/v7/,http://[::1]:8081")
    assert found.origins == (
        Origin(url="http://a:8081"),
        Origin(url="https://b.example/apis/ccompat/v7"),
        Origin(url="http://[::1]:8081"),
    )
    assert found.name == "http://a:8081,https://b.example/apis/ccompat/v7,http://[::1]:8081"


@each(
    "given",
    [
        ["schema.registry.url=https://a", "basic.auth.credentials.source=USER_INFO", "basic.auth.user.info=me:wo:rd"],
        ["schema.registry.url=https://a", "schema.registry.basic.auth.user.info=me:wo:rd"],
        ["schema.registry.url=https://me:wo%3Ard@a"],
        ["schema.registry.url=https://me:wo%3Ard@a", "basic.auth.credentials.source=url"],
        ["schema.registry.url=https://x:y@a", "basic.auth.user.info=me:wo:rd"],
    ],
)
def test_a_login_of_each_source(given: list[str]) -> None:
    assert settings(*given).origins == (Origin(url="https://a", user="me", password=Secret("wo:rd")),)


def test_the_login_of_the_brokers_is_inherited_on_request() -> None:
    given = ("schema.registry.url=https://a", "basic.auth.credentials.source=SASL_INHERIT")
    assert settings(*given, *SASL).origins == (
        Origin(url="https://a", user="broker-user", password=Secret("broker-word")),
    )
    assert "requires sasl.username and sasl.password" in refused(*given)


@pytest.mark.process
def test_secrets_of_the_brokers_are_left_alone_unless_they_are_inherited(tmp_path: Path) -> None:
    """A command may ask for a finger on a key: it is run once, by whoever connects to the brokers."""
    ran = tmp_path / "ran"
    command = ("sasl.password=${command:sh -c 'echo word; echo x >> " + str(ran) + "'}",)
    settings("schema.registry.url=https://a", *SASL[:3], *command)
    assert not ran.exists()
    inheriting = ("schema.registry.url=https://a", "basic.auth.credentials.source=SASL_INHERIT", *SASL[:3], *command)
    assert settings(*inheriting).origins[0].password == Secret("word")


@each(
    ("given", "oauth"),
    [
        (["bearer.auth.token=t"], OAuth(token=Secret("t"))),
        (
            ["bearer.auth.credentials.source=STATIC_TOKEN", "schema.registry.bearer.auth.token=t"],
            OAuth(token=Secret("t")),
        ),
        (["bearer.auth.token.file=/t"], OAuth(token_file="/t")),
        (["bearer.auth.token.command=print 'a token'"], OAuth(token_command=("print", "a token"))),
        (
            [
                *("bearer.auth.credentials.source=OAUTHBEARER", "bearer.auth.issuer.endpoint.url=https://idp/token"),
                *("bearer.auth.client.id=id", "bearer.auth.client.secret=word", "bearer.auth.scope=read"),
            ],
            OAuth(token_endpoint="https://idp/token", client_id="id", client_secret=Secret("word"), scope="read"),
        ),
    ],
)
def test_a_token_of_each_source(given: list[str], oauth: OAuth) -> None:
    assert settings("schema.registry.url=https://a", *given).oauth == oauth


def test_the_token_of_the_brokers_is_inherited_on_request() -> None:
    given = ("schema.registry.url=https://a", "bearer.auth.credentials.source=SASL_OAUTHBEARER_INHERIT")
    theirs = ("security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.token=t")
    assert settings(*given, *theirs).oauth == OAuth(token=Secret("t"))
    assert "requires sasl.mechanism=OAUTHBEARER" in refused(*given, *SASL)


def test_headers_of_a_cloud_go_with_a_token() -> None:
    found = settings(
        "schema.registry.url=https://a", "bearer.auth.token=t", "bearer.auth.logical.cluster=lsrc-1",
        "bearer.auth.identity.pool.id=pool-1",
    )  # fmt: skip
    assert dict(found.headers) == {"Target-Sr-Cluster": "lsrc-1", "Confluent-Identity-Pool-Id": "pool-1"}


def test_tls_has_properties_of_its_own() -> None:
    found = settings(
        "schema.registry.url=https://a", "ssl.ca.location=/broker.pem", "schema.registry.ssl.ca.location=/ca"
    )
    assert found.tls is not None
    assert found.tls.ca == "/ca"
    assert settings("schema.registry.url=http://a").tls is None


def test_a_proxy_serves_the_registry_and_its_token_url() -> None:
    found = settings(
        "schema.registry.url=https://a", "schema.registry.proxy=proxy:3128", "bearer.auth.client.id=c",
        "bearer.auth.client.secret=s", "bearer.auth.issuer.endpoint.url=https://idp/token",
    )  # fmt: skip
    assert found.oauth is not None
    assert (found.proxy, found.oauth.proxy) == ("proxy:3128", "proxy:3128")


@each(
    ("key", "value", "says"),
    [
        ("enable.ssl.certificate.verification", "false", "the registry's certificates are not checked"),
        ("ssl.endpoint.identification.algorithm", "", "the name in the registry's certificates is not checked"),
    ],
)
def test_a_check_that_is_switched_off_is_warned_about(key: str, value: str, says: str) -> None:
    given = ["schema.registry.url=https://a", f"schema.registry.{key}={value}"]
    properties = read_properties(None, given)
    assert registry_of(properties) is not None
    assert [warning.partition(":")[0] for warning in properties.warnings if says in warning]


def test_time_limits() -> None:
    found = settings("schema.registry.url=http://a", "http.connect.timeout.ms=1500", "http.read.timeout.ms=2500")
    assert (found.connect_timeout, found.read_timeout) == (1.5, 2.5)


@each(
    ("given", "says"),
    [
        (["schema.registry.url=ftp://a"], "schema.registry.url is http://HOST:PORT, https://HOST:PORT or file:FOLDER"),
        (["schema.registry.url=https://a:b"], "schema.registry.url is http://HOST:PORT"),
        (["schema.registry.url=https://a?x=1"], "schema.registry.url is http://HOST:PORT"),
        (["schema.registry.url=https://key:se/cret@a"], "percent-encode all characters of the password"),
        (["schema.registry.url=,"], "schema.registry.url is empty"),
        (
            ["schema.registry.url=https://a", "schema.registry.proxy=socks5://me:se/cret@b"],
            "schema.registry.proxy is http://HOST:PORT or https://HOST:PORT",
        ),
        (["schema.registry.url=https://a", "basic.auth.user.info=nobody"], "basic.auth.user.info is USER:PASSWORD"),
        (["schema.registry.url=https://a", "basic.auth.credentials.source=X"], "must be one of USER_INFO, URL"),
        (
            ["schema.registry.url=https://a", "basic.auth.user.info=a:b", "bearer.auth.token=t"],
            "basic.auth.user.info and bearer.auth.token cannot be combined",
        ),
        (["schema.registry.url=https://a", "bearer.auth.credentials.source=STATIC_TOKEN"], "one of bearer.auth"),
        (
            ["schema.registry.url=https://a", "bearer.auth.issuer.endpoint.url=http://idp/token"],
            "the token URL http://idp/token is not https",
        ),
        (["schema.registry.url=http://a", "basic.auth.user.info=a:b"], "others could read them: use https"),
        (["schema.registry.url=http://a", "bearer.auth.token=t"], "others could read them: use https"),
        (["schema.registry.url=http://a", "schema.registry.kind=glu"], "must be one of confluent"),
        (
            ["schema.registry.url=https://a", "schema.registry.ssl.key.location=/k"],
            "schema.registry.ssl.key.location has no certificate: set schema.registry.ssl.cert",
        ),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_one_sentence_without_a_secret(given: list[str], says: str) -> None:
    sentence = refused(*given)
    assert says in sentence
    assert "se/cret" not in sentence


def test_credentials_in_plain_sight_are_sent_where_that_is_allowed_and_on_this_machine() -> None:
    assert settings("schema.registry.url=http://localhost:1", "basic.auth.user.info=a:b").credentials
    allowed = settings(
        "schema.registry.url=http://a", "basic.auth.user.info=a:b", "schema.registry.allow.insecure.auth=true"
    )
    assert allowed.credentials == "basic.auth.user.info"


def test_no_password_of_any_address_is_shown() -> None:
    assert without_login("http://a:b@c:1/x,https://d:e,f@g") == "http://***@c:1/x,https://***@g"


# -- profiles ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's configuration in `user`, a project in `project`, the working directory."""
    (tmp_path / "user" / "kcli").mkdir(parents=True)
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.delenv("KCLI_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def write(path: Path, *lines: str) -> None:
    path.write_text("\n".join(("[profiles.p]", 'bootstrap = "b:1"', *lines)) + "\n")


def test_a_profile_has_a_short_name_for_it_and_a_folder_is_meant_from_its_file(files: Path) -> None:
    write(files / "user/kcli/config.toml", 'registry = "file:schemas"')
    found = registry_of(read_properties(None, [], chosen("p")))
    assert found == RegistrySettings(folder=str(files / "user/kcli/schemas"), kind="file")
    write(files / "user/kcli/config.toml", 'registry = "http://localhost:8081"', 'basic.auth.user.info = "a:b"')
    found = registry_of(read_properties(None, [], chosen("p")))
    assert found is not None
    assert (found.name, found.origins[0].user) == ("http://localhost:8081", "a")


def test_the_environment_names_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCLI_SCHEMA_REGISTRY_URL", "https://a")
    monkeypatch.setenv("KCLI_BASIC_AUTH_USER_INFO", "me:word")
    found = registry_of(read_properties(None, [], None, environment()))
    assert found is not None
    assert found.origins == (Origin(url="https://a", user="me", password=Secret("word")),)


@each(
    ("line", "says"),
    [
        ('bearer.auth.token.command = "steal"', "bearer.auth.token.command is read from elsewhere"),
        ('schema.registry.bearer.auth.token.file = "/t"', "bearer.auth.token.file is read from elsewhere"),
        ('schema.registry.basic.auth.user.info = { env = "X" }', "is read from elsewhere"),
        ('schema.registry.ssl.key.location = "/home/key.pem"', "is read from elsewhere"),
        ('schema.registry.ssl.endpoint.identification.algorithm = ""', "turns a protection off"),
        ("schema.registry.allow.insecure.auth = true", "turns a protection off"),
    ],
)
def test_a_project_that_nobody_trusts_takes_nothing_from_elsewhere(files: Path, line: str, says: str) -> None:
    write(files / "project/.kcli.toml", 'registry = "https://evil"', line)
    with pytest.raises(UsageError, match=says):
        chosen("p")


def test_a_project_that_nobody_trusts_gets_no_secret_of_the_environment(files: Path) -> None:
    write(files / "project/.kcli.toml", 'registry = "https://evil"')
    environment = [("KCLI_BASIC_AUTH_USER_INFO", "basic.auth.user.info", "me:secret")]
    properties = read_properties(None, [], chosen("p"), environment)
    with pytest.raises(UsageError, match=r"KCLI_BASIC_AUTH_USER_INFO: .* gets no secrets from elsewhere"):
        registry_of(properties)
    assert properties.security() is None
