"""A cloned repository's `.kcli.toml` gets no secret of its user, unless the user's file trusts its folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcli.cli.main import main
from kcli.sandbox.thread import SandboxThread
from tests.programs import Result

PASSWORD = "canary-77ab"
CLEAR = ('security.protocol = "SASL_PLAINTEXT"', 'sasl.mechanism = "PLAIN"', 'sasl.username = "me"')


@pytest.fixture(scope="module")
def broker() -> Iterator[SandboxThread]:
    with SandboxThread(topics={"orders": 1}, sasl={"me": PASSWORD}) as running:
        yield running


class Clone:
    """A repository with a `.kcli.toml`, and the user's own configuration beside it."""

    def __init__(self, home: Path, servers: str, patch: pytest.MonkeyPatch, said: pytest.CaptureFixture[str]) -> None:
        self.home, self.servers, self.said = home, servers, said
        self.folder = home / "clone"
        (self.folder / ".git").mkdir(parents=True)
        (home / "config" / "kcli").mkdir(parents=True)
        for name in [name for name in os.environ if name.startswith("KCLI_")]:
            patch.delenv(name)
        patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        patch.chdir(self.folder)

    @property
    def choice(self) -> str:
        """What is said of the cluster that its file chooses."""
        return f"kcli: {self.folder / '.kcli.toml'} chooses the cluster: profile dev, {self.servers}\n"

    def run(self, *lines: str, words: tuple[str, ...] = (), trusted: bool = False, **environment: str) -> Result:
        profile = ['default_profile = "dev"', "[profiles.dev]", f'bootstrap = "{self.servers}"', *lines, ""]
        (self.folder / ".kcli.toml").write_text("\n".join(profile))
        (self.folder / ".kcli.toml").chmod(0o600)
        trust = f'trusted_projects = ["{self.folder}"]\n' if trusted else ""
        (self.home / "config" / "kcli" / "config.toml").write_text(trust)
        self.said.readouterr()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            code = main(["topics", "list", *words])
        out, err = self.said.readouterr()
        return Result(code, out.encode(), err)


@pytest.fixture
def clone(
    tmp_path: Path, broker: SandboxThread, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Clone:
    return Clone(tmp_path, broker.bootstrap, monkeypatch, capfd)


def java(home: Path, *lines: str) -> str:
    path = home / "client.properties"
    path.write_text("\n".join([*lines, ""]))
    path.chmod(0o600)
    return str(path)


def test_a_variable_with_the_password(clone: Clone) -> None:
    refused = clone.run(*CLEAR, KCLI_SASL_PASSWORD=PASSWORD)
    assert refused.code == 2, refused
    assert "KCLI_SASL_PASSWORD" in refused.err
    assert f'trusted_projects = ["{clone.folder}"]' in refused.err
    assert PASSWORD not in refused.err
    assert clone.run(*CLEAR, trusted=True, KCLI_SASL_PASSWORD=PASSWORD).code == 0
    typed = clone.run(*CLEAR, words=("-X", f"sasl.password={PASSWORD}"))
    assert typed.code == 0, "who types it here means it"


def test_a_file_with_the_password(clone: Clone) -> None:
    path = java(clone.home, f"sasl.password={PASSWORD}")
    named = ("--profile", "dev", "-F", path)
    refused = clone.run(*CLEAR, words=named)
    assert refused.code == 2, refused
    assert f"{path}:1: sasl.password" in refused.err
    assert clone.run(*CLEAR, words=named, trusted=True).code == 0


@pytest.mark.parametrize(
    ("variable", "value", "lines"),
    [
        ("KCLI_SASL_JAAS_CONFIG", f'x.PlainLoginModule required username="me" password="{PASSWORD}";', CLEAR[:2]),
        ("KCLI_SASL_OAUTHBEARER_TOKEN", PASSWORD, (CLEAR[0], 'sasl.mechanism = "OAUTHBEARER"')),
        ("KCLI_SASL_OAUTHBEARER_TOKEN_FILE", "/tmp/token", (CLEAR[0], 'sasl.mechanism = "OAUTHBEARER"')),
        ("KCLI_SASL_OAUTHBEARER_TOKEN_COMMAND", "cat /tmp/token", (CLEAR[0], 'sasl.mechanism = "OAUTHBEARER"')),
        ("KCLI_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL", "file:/x", (CLEAR[0], 'sasl.mechanism = "OAUTHBEARER"')),
        ("KCLI_SASL_MECHANISM", "GSSAPI", CLEAR[:1]),
        ("KCLI_SASL_MECHANISM", "AWS_MSK_IAM", ('security.protocol = "SASL_SSL"',)),
        ("KCLI_SSL_KEY_LOCATION", "/tmp/key.pem", ('security.protocol = "SSL"',)),
        ("KCLI_SSL_KEYSTORE_PASSWORD", PASSWORD, ('security.protocol = "SSL"',)),
    ],
)
def test_every_variable_that_gives_a_secret(clone: Clone, variable: str, value: str, lines: tuple[str, ...]) -> None:
    refused = clone.run(*lines, **{variable: value})
    assert refused.code == 2, refused
    assert f"{variable}: " in refused.err
    assert "trusted_projects" in refused.err
    assert PASSWORD not in refused.err


@pytest.mark.parametrize(
    "line",
    [
        "allow.insecure.auth = true",
        "enable.ssl.certificate.verification = false",
        'ssl.endpoint.identification.algorithm = ""',
        'ssl.endpoint.identification.algorithm = "none"',
    ],
)
def test_a_switch_that_turns_a_protection_off(clone: Clone, line: str) -> None:
    refused = clone.run(*CLEAR, f'sasl.password = "{PASSWORD}"', line)
    assert refused.code == 2, refused
    assert f"{line.split()[0]} turns a protection off" in refused.err
    assert "trusted_projects" in refused.err
    allowed = clone.run(*CLEAR, f'sasl.password = "{PASSWORD}"', line, trusted=True)
    assert allowed.code == 0, allowed


@pytest.mark.parametrize(
    "line",
    [
        'sasl.oauthbearer.token.endpoint.url = "file:/home/me/token"',
        'sasl.mechanism = "GSSAPI"',
        'sasl.mechanism = "aws_msk_iam"',
        "sasl.jaas.config = 'com.sun.security.auth.module.Krb5LoginModule required keyTab=\"/x\";'",
        'ssl.key.location = "~/.ssl/key.pem"',
        'ssl.keystore.location = "../store.p12"',
    ],
)
def test_a_secret_that_the_project_takes_by_another_name(clone: Clone, line: str) -> None:
    refused = clone.run('security.protocol = "SASL_SSL"', line)
    assert refused.code == 2, refused
    assert f"{line.split()[0]} is read from elsewhere" in refused.err


def test_a_key_that_is_a_link_out_of_the_project(clone: Clone) -> None:
    (clone.home / "key.pem").write_text("mine")
    (clone.folder / "key.pem").symlink_to(clone.home / "key.pem")
    refused = clone.run('security.protocol = "SSL"', 'ssl.key.location = "key.pem"')
    assert "ssl.key.location is read from elsewhere" in refused.err


def test_what_a_project_may_do_untrusted(clone: Clone) -> None:
    """Its own password to its own broker; and a variable for another cluster does not stop a cluster without SASL."""
    own = clone.run(*CLEAR, f'sasl.password = "{PASSWORD}"')
    assert (own.code, own.err) == (0, clone.choice)
    with SandboxThread(topics={"orders": 1}) as plain:
        clone.servers = plain.bootstrap
        done = clone.run(KCLI_SASL_PASSWORD=PASSWORD)
        assert (done.code, done.err) == (0, clone.choice)
