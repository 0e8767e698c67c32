"""Secrets that are kept elsewhere: environment, files, keyring, commands; and what must not be taken from there."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from keyring.errors import KeyringError

import kcli
from kcli import property_names as names
from kcli.cli.main import main
from kcli.config.secrets.sources import Source, from_table, is_source, written
from kcli.errors import UsageError
from kcli.sandbox.thread import SandboxThread
from kcli.secret import Secret, secretive
from kcli.security import Aws, OAuth, Sasl, Tls
from kcli.security.tokens import obtain


def resolve(source: Source | None) -> tuple[str, list[str]]:
    """The value and the warnings."""
    assert source is not None
    warnings: list[str] = []
    return source.resolve("here", warnings.append), warnings


def refused(source: Source | None) -> str:
    with pytest.raises(UsageError) as told:
        resolve(source)
    return str(told.value)


def test_a_secret_shows_itself_to_nobody_who_does_not_ask() -> None:
    secret = Secret("hunter2")
    assert f"{secret} {secret!r} {secret!s:>5} {[secret]}".replace("*", "").strip() == "[]"
    assert secret.reveal() == "hunter2"
    assert (secret == Secret("hunter2"), secret == "hunter2", bool(Secret(""))) == (True, False, False)
    with pytest.raises(TypeError):
        pickle.dumps(secret)


def test_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_PASSWORD", "a b\tü")
    assert resolve(written("${env:MY_PASSWORD}", "x")) == ("a b\tü", [])
    assert refused(written("${env:NO_SUCH}", "x")) == "here: environment variable NO_SUCH is not set"
    monkeypatch.setenv("MY_PASSWORD", "")
    assert refused(written("${env:MY_PASSWORD}", "x")) == "here: {env: MY_PASSWORD} is empty"
    monkeypatch.setenv("MY_PASSWORD", "a\udcffb")  # as Python reads the byte 0xff of a variable
    assert refused(written("${env:MY_PASSWORD}", "x")) == "here: MY_PASSWORD: is not UTF-8 text"


def test_from_a_file_without_its_last_line_end(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_bytes(b"p w\n\r\n")
    file.chmod(0o600)
    assert resolve(from_table({"file": "secret"}, "x", str(tmp_path))) == ("p w\n", [])


@pytest.mark.parametrize(("mode", "says"), [(0o644, "warn"), (0o640, "warn"), (0o606, "refuse")])
def test_a_file_that_others_can_read_is_warned_about_and_one_they_can_write_refused(
    tmp_path: Path, mode: int, says: str
) -> None:
    file = tmp_path / "secret"
    file.write_text("pw")
    file.chmod(mode)
    source = written(f"${{file:{file}}}", "x")
    if says == "refuse":
        assert "can be written by other users" in refused(source)
    else:
        text, warnings = resolve(source)
        assert text == "pw"
        assert warnings == [f"here: {file} contains a secret and can be read by other users: chmod 600 it"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_or_group_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("pw")
    file.chmod(0o600)
    os.chown(file, 12345, -1)
    assert "belongs to another user" in refused(written(f"${{file:{file}}}", "x"))
    os.chown(file, 0, 12345)
    file.chmod(0o660)
    assert "can be written by other users" in refused(written(f"${{file:{file}}}", "x"))


def test_a_file_that_cannot_be_a_secret_is_refused(tmp_path: Path) -> None:
    large, binary = tmp_path / "large", tmp_path / "binary"
    large.write_bytes(b"x" * 70_000)
    binary.write_bytes(b"\xff\xfe")
    for path in (large, binary):
        path.chmod(0o600)
    assert "it is larger than 64 KiB" in refused(written(f"${{file:{large}}}", "x"))
    assert "is not UTF-8 text" in refused(written(f"${{file:{binary}}}", "x"))
    assert "No such file" in refused(written(f"${{file:{tmp_path}/absent}}", "x"))


@pytest.mark.process
def test_from_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets neither our secrets nor our stdin."""
    monkeypatch.setenv("KCLI_SASL_PASSWORD", "ours")
    monkeypatch.setenv("KCLI_PROFILE", "prod")
    script = "import os, sys; print(os.environ.get('KCLI_SASL_PASSWORD'), os.environ['KCLI_PROFILE'], sys.stdin.read())"
    assert resolve(from_table({"command": [sys.executable, "-c", script]}, "x", "/")) == ("None prod ", [])


@pytest.mark.process
def test_no_program_that_a_configuration_names_gets_a_secret_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every property that the settings keep as a Secret, those of registries, and addresses with a login."""
    tables = ((names.TLS, Tls), (names.SASL, Sasl), (names.OAUTH, OAuth), (names.AWS, Aws))
    secrets = [
        name
        for table, kind in tables
        for name, field in table.items()
        if any(one.name == field and "Secret" in one.annotation for one in kind.__fields__)
    ]
    assert len(secrets) > 10
    secrets += ["sasl.jaas.config", "sasl.oauthbearer.config", "basic.auth.user.info", "bearer.auth.token"]
    secrets += ["bearer.auth.client.secret"]
    held = [f"KCLI_{name.upper().replace('.', '_')}" for name in secrets]
    held += [f"KCLI_SCHEMA_REGISTRY_{name[5:]}" for name in held if "AUTH" in name or "_SSL_" in name]
    for name in held:
        monkeypatch.setenv(name, "canary")
    monkeypatch.setenv("KCLI_SCHEMA_REGISTRY_URL", "https://me:canary@registry.example")
    monkeypatch.setenv("KCLI_PROFILE", "prod")
    script = "import os; print(*(f'{k}={v}' for k, v in os.environ.items() if k[:5] == 'KCLI_'))"
    words = (sys.executable, "-c", script)
    printed = obtain(OAuth(token_command=words)), resolve(Source(kind="command", what=words))[0]
    for text in printed:
        assert "canary" not in text
        assert "KCLI_PROFILE=prod" in text.split()


def test_every_program_that_a_configuration_names_is_started_without_them() -> None:
    """The others are kcli itself, Java and Spark, and tools of the system."""
    root = Path(kcli.__file__).parent
    started = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if any(word in path.read_text() for word in ("subprocess.run(", "subprocess.Popen(", "os.exec", "os.spawn"))
    }
    ours = {"cli/commands/demo/command.py", "serde/json_schema/child.py", "system/processes.py"}
    java = {f"pipeline/session/{name}.py" for name in ("archive", "gateway", "java")}
    assert started == {"config/secrets/sources.py", "security/tokens.py"} | ours | java


@pytest.mark.process
@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("import time; time.sleep(30)", "did not end within 0.2 s"),
        ("import sys; sys.exit('canary')", "ended with exit code 1; run it to see why"),
        ("pass", "is empty"),
    ],
)
def test_a_command_that_fails_says_how(script: str, says: str) -> None:
    assert says in refused(from_table({"command": [sys.executable, "-c", script], "timeout": 0.2}, "x", "/"))


@pytest.mark.process
def test_a_command_that_is_not_there() -> None:
    assert refused(written("${command:no-such-program a}", "x")) == "here: no-such-program: No such file or directory"


@pytest.fixture
def ring() -> Iterator[Any]:
    """The keyring package with a backend of our own instead of the system's."""
    import keyring
    from keyring.backend import KeyringBackend

    class Ring(KeyringBackend):
        priority = 1
        kept: ClassVar[dict[tuple[str, str], str]] = {("kafka/prod", "me"): "pw"}
        locked = False

        def get_password(self, service: str, username: str) -> str | None:
            if self.locked:
                raise KeyringError("locked")
            return self.kept.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            raise NotImplementedError

    before, mine = keyring.get_keyring(), Ring()
    keyring.set_keyring(mine)
    yield mine
    keyring.set_keyring(before)


@pytest.mark.process
def test_from_the_keyring(ring: Any) -> None:
    assert resolve(written("${keyring:kafka/prod/me}", "x")) == ("pw", [])
    assert resolve(from_table({"keyring": "kafka/prod/me"}, "x", "/")) == ("pw", [])
    assert "keyring set kafka you" in refused(written("${keyring:kafka/you}", "x"))
    assert "SERVICE/USER" in refused(written("${keyring:kafka}", "x"))
    ring.locked = True
    assert refused(written("${keyring:a/b}", "x")) == "here: the keyring does not respond: locked"


def test_a_profile_whose_password_is_in_the_keyring_connects(
    ring: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with SandboxThread(topics={"orders": 1}, sasl={"me": "pw"}) as running:
        config = tmp_path / "config.toml"
        config.write_text(
            f'[profiles.prod]\nbootstrap = "{running.bootstrap}"\nsecurity.protocol = "SASL_PLAINTEXT"\n'
            'sasl.mechanism = "SCRAM-SHA-512"\nsasl.username = "me"\nsasl.password = { keyring = "kafka/prod/me" }\n'
        )
        monkeypatch.setenv("KCLI_CONFIG", str(config))
        assert main(["topics", "list", "--profile", "prod", "--format", "plain"]) == 0
        assert "orders" in capfd.readouterr().out
        ring.kept.clear()
        assert main(["topics", "list", "--profile", "prod"]) != 0
        assert "keyring set kafka/prod me" in capfd.readouterr().err


def test_without_the_keyring_package_one_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert "pip install 'kcli-kafka[keyring]'" in refused(written("${keyring:a/b}", "x"))


@pytest.mark.parametrize("text", ["plain", "$x", "${", "a${env:X}", "${env:X}b"])
def test_other_texts_are_texts(text: str) -> None:
    assert written(text, "x") is None


@pytest.mark.parametrize("text", ["${env}", "${vault:x}", "${env: }", "${}"])
def test_a_source_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is one of"):
        written(text, "x")


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"env": 3}, "env must be a text"),
        ({"env": "A", "file": "b"}, None),
        ({"command": []}, "command must be a list of words"),
        ({"command": ["a", 1]}, "command must be a list of words"),
        ({"command": ["a"], "timeout": "soon"}, "timeout must be a number"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(table: dict[str, object], says: str | None) -> None:
    assert is_source(table)
    with pytest.raises(UsageError, match=says or "set one of"):
        from_table(table, "x", "/")


@pytest.mark.process
def test_a_command_that_prints_nothing_is_named_by_its_first_word_alone() -> None:
    said = refused(from_table({"command": ["true", "--token", "hunter2"]}, "x", "/"))
    assert said == "here: {command: true …} is empty"


def test_what_no_system_takes_is_refused_in_a_sentence() -> None:
    for table in ({"command": 'pass "show'}, {"file": "a\0b"}, {"command": ["a\0b"]}, {"command": "a\0b"}):
        with pytest.raises(UsageError, match=r"^x: (the command has a quotation mark|contains a NUL character)"):
            from_table(dict(table), "x", "/")
    for text in ('${command:pass "show}', "${file:a\0b}", "${command:a\0b}"):
        with pytest.raises(UsageError, match=r"^x: (the command has a quotation mark|contains a NUL character)"):
            written(text, "x")


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("sasl.password", True), ("KCLI_SASL_PASSWORD", True), ("ssl.key.password", True), ("ssl.key.pem", True),
        ("ssl.keystore.key", True), ("sasl.jaas.config", True), ("sasl.oauthbearer.client.secret", True),
        ("sasl.oauthbearer.client.credentials.client.secret", True), ("sasl.oauthbearer.token", True),
        ("sasl.aws.secret.access.key", True), ("sasl.aws.session.token", True),
        ("basic.auth.user.info", True), ("schema.registry.basic.auth.user.info", True), ("bearer.auth.token", True),
        ("KCLI_SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO", True), ("schema.registry.bearer.auth.client.secret", True),
        ("schema.registry.basic.auth.credentials.source", False), ("bearer.auth.token.command", False),
        ("schema.registry.ssl.key.password", True), ("bearer.auth.issuer.endpoint.url", False),
        ("sasl.username", False), ("sasl.oauthbearer.token.endpoint.url", False),
        ("sasl.oauthbearer.token.file", False),
        ("sasl.oauthbearer.client.id", False), ("ssl.key.location", False), ("key.serializer", False),
        ("linger.ms", False),
    ],
)  # fmt: skip
def test_what_is_a_secret_is_known_by_its_name(name: str, hidden: bool) -> None:
    assert secretive(name) is hidden
