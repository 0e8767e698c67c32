"""A secret is nowhere: every way to hand one over, every command that could say it, and what goes wrong on the way."""

from __future__ import annotations

import json
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from kcli.cli.main import main
from kcli.proto.messages.sasl_authenticate import SaslAuthenticateResponse
from kcli.proto.session import Received, ServerSession
from kcli.sandbox.access.tls import make_certificates
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import inside
from tests.programs import Result, kcli

CANARY = "canary-5f1e9c"
WAYS = (
    "profile",
    "environment",
    "file of the profile",
    "variable of the profile",
    "command of the profile",
    "-X",
    "-F",
    "jaas",
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("certificates")
    made = make_certificates(folder)
    users = {"right": CANARY, "wrong": "something else"}
    with SandboxThread(topics={"orders": 1}, tls=made, sasl=users, advertised="localhost") as running:
        yield f"localhost:{running.bootstrap.rpartition(':')[2]}", folder / "ca.pem"


def _way(way: str, user: str, world: tuple[str, Path], home: Path) -> tuple[list[str], dict[str, str]]:
    """Options and environment with which `user` has the secret."""
    bootstrap, ca = world
    common = {
        "bootstrap.servers": bootstrap, "security.protocol": "SASL_SSL", "ssl.ca.location": str(ca),
        "sasl.mechanism": "SCRAM-SHA-256", "sasl.username": user,
    }  # fmt: skip
    environment = {"XDG_CONFIG_HOME": str(home), "XDG_STATE_HOME": str(home), "XDG_CACHE_HOME": str(home)}
    (home / "secret").write_text(CANARY)
    (home / "secret").chmod(0o600)
    kept = {
        "profile": f'"{CANARY}"', "file of the profile": f'{{ file = "{home}/secret" }}',
        "variable of the profile": '{ env = "MY_SECRET" }',
        "command of the profile": f'{{ command = ["cat", "{home}/secret"] }}',
    }  # fmt: skip
    if way in kept:
        lines = [f'"{key}" = "{value}"' for key, value in common.items()]
        config = home / "kcli" / "config.toml"
        config.parent.mkdir(exist_ok=True)
        config.write_text("\n".join(["[profiles.x]", *lines, f'"sasl.password" = {kept[way]}', ""]))
        config.chmod(0o600)
        return ["--profile", "x"], {**environment, "MY_SECRET": CANARY}
    options = [word for key, value in common.items() for word in ("-X", f"{key}={value}")]
    if way == "environment":
        return options, {**environment, "KCLI_SASL_PASSWORD": CANARY}
    if way == "-X":
        return [*options, "-X", f"sasl.password={CANARY}"], environment
    java = home / "client.properties"
    login = f'org.apache.kafka.common.security.scram.ScramLoginModule required username="{user}" password="{CANARY}";'
    last = f"sasl.jaas.config={login}" if way == "jaas" else f"sasl.password={CANARY}"
    java.write_text("\n".join([*(f"{key}={value}" for key, value in common.items()), last, ""]))
    java.chmod(0o600)
    return ["-F", str(java)], environment


def _silent(done: Result, home: Path, *kept: str) -> None:
    assert CANARY not in done.out.decode() + done.err, "said"
    for path in home.rglob("*"):
        if path.is_file() and path.name not in ("secret", "config.toml", "client.properties", *kept):
            assert CANARY.encode() not in path.read_bytes(), path


COMMANDS = (
    ["topics", "list", "--trace"], ["topics", "list", "-v", "--trace-file", "TRACE"], ["config", "show", "--all"],
    ["config", "show", "--format", "json"], ["config", "check"], ["doctor", "--format", "json"], ["doctor"],
    ["topics", "list", "-X", "linger.msx=1"], ["topics", "list", "-X", "acks=nonsense"],
    ["topics", "list", "-X", "ssl.ca.location=/no/such/file"], ["topics", "list", "-X", "sasl.mechanism=PLAI"],
)  # fmt: skip


@pytest.mark.process
@pytest.mark.parametrize("way", WAYS)
def test_a_secret_is_never_said(way: str, world: tuple[str, Path], tmp_path: Path) -> None:
    for user in ("right", "wrong"):
        options, environment = _way(way, user, world, tmp_path)
        for words in COMMANDS if user == "right" else COMMANDS[:1] + COMMANDS[6:7]:
            given = options if words[:2] != ["config", "check"] else []
            line = [str(tmp_path / "trace") if word == "TRACE" else word for word in words]
            done = (kcli if way == WAYS[0] else inside)(*line, *given, env=environment)
            assert done.code in (0, 2, 5), done
            assert "Traceback" not in done.err
            _silent(done, tmp_path)
    trace = (tmp_path / "trace").read_text()
    assert "SaslAuthenticate" in trace


SECRETS = {
    "ssl.key.password": {"ssl.key.location": "/no/such/key.pem"},
    "ssl.keystore.password": {"ssl.keystore.location": "/no/such/store.p12"},
    "ssl.truststore.password": {"ssl.truststore.location": "/no/such/store.jks"},
    "ssl.keystore.key": {"ssl.keystore.type": "PEM"},
    "ssl.key.pem": {},
    "sasl.password": {"sasl.mechanism": "PLAIN", "sasl.username": "me"},
    "sasl.jaas.config": {"sasl.mechanism": "PLAIN"},
    "sasl.oauthbearer.token": {"sasl.mechanism": "OAUTHBEARER"},
    "sasl.oauthbearer.client.secret": {
        "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.client.id": "me",
        "sasl.oauthbearer.token.endpoint.url": "http://127.0.0.1:1/token",
    },
    "sasl.oauthbearer.token.endpoint.url": {
        "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.client.id": "me", "sasl.oauthbearer.client.secret": "x",
    },
}  # fmt: skip
VALUES = {
    "ssl.keystore.key": f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----",
    "sasl.jaas.config": (
        f'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="{CANARY}";'
    ),
    "sasl.oauthbearer.token.endpoint.url": f"http://me:{CANARY}@127.0.0.1:1/token",
}


@pytest.mark.process
@pytest.mark.parametrize("key", SECRETS)
def test_no_property_that_is_a_secret_is_said(key: str, tmp_path: Path) -> None:
    """By what shows settings and by what fails with them, written down in a profile and in Java's file."""
    value = VALUES.get(key, CANARY)
    protocol = "SASL_SSL" if key.startswith("sasl") else "SSL"
    given = {"bootstrap.servers": "127.0.0.1:1", "security.protocol": protocol, **SECRETS[key], key: value}
    home = tmp_path / "kcli"
    home.mkdir()
    config, java = home / "config.toml", tmp_path / "client.properties"
    config.write_text("[profiles.x]\n" + "".join(f'"{name}" = {json.dumps(text)}\n' for name, text in given.items()))
    java.write_text("".join(f"{name}={json.dumps(text)[1:-1]}\n" for name, text in given.items()))
    for path in (config, java):
        path.chmod(0o600)
    environment = {"XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    lines = [
        ["config", "show", "x", "--all"], ["config", "show", "x", "--format", "json"], ["config", "check"],
        ["config", "import", str(java)], ["doctor", "--profile", "x", "--format", "json"],
        ["topics", "list", "-F", str(java), "--trace", "-v"], ["consume", "t", "-e", "--profile", "x"],
    ]  # fmt: skip
    for words in lines:
        done = (kcli if key == "sasl.password" else inside)(*words, env=environment)
        assert done.code in (0, 1, 2, 5), done
        assert "Traceback" not in done.err
        _silent(done, tmp_path)


@pytest.mark.process
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_B19_a_wrong_password_is_told_within_two_seconds(
    mechanism: str, world: tuple[str, Path], tmp_path: Path
) -> None:
    options, environment = _way("environment", "wrong", world, tmp_path)
    begin = time.monotonic()
    done = inside("topics", "list", *options, "-X", f"sasl.mechanism={mechanism}", env=environment)
    assert time.monotonic() - begin < 2
    assert done.code == 5
    assert "refused the authentication of wrong" in done.err
    assert done.out == b""
    _silent(done, tmp_path)


def test_a_traceback_of_a_mistake_of_ours_has_none_either(
    world: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the locals of every frame, as some tools print them."""
    import traceback

    from kcli.broker.security import authentication
    from kcli.cli.main import main

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    options, environment = _way("-F", "right", world, tmp_path)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(authentication, "introduce", fail)
    with pytest.raises(ZeroDivisionError) as caught:
        main(["topics", "list", *options])
    told = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "settings =" in told, "the locals are there"
    assert CANARY not in told


SASL = {
    "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "wrong", "sasl.password": CANARY
}  # fmt: skip


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., str]:
    """Run kcli with properties in a file; its exit code in front of all that it printed."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def run(*words: str, code: int, **properties: str) -> str:
        java = tmp_path / "client.properties"
        java.write_text("".join(f"{name.replace('_', '.')}={text}\n" for name, text in properties.items()))
        java.chmod(0o600)
        capfd.readouterr()
        got = main([*words, *(["-F", str(java)] if properties else [])])
        out, err = capfd.readouterr()
        assert got == code, err
        assert "Traceback" not in err
        return out + err

    return run


@pytest.mark.parametrize("echo", ["got \0wrong\0{}", "{0}{0}", "\x1b[31m{}"])
def test_a_password_that_the_broker_sends_back(
    echo: str, said: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    respond = ServerSession.respond

    def echoing(self: ServerSession, to: Received, response: Any, version: int | None = None) -> Any:
        if isinstance(response, SaslAuthenticateResponse):
            response = SaslAuthenticateResponse(error_code=58, error_message=echo.format(CANARY))
        return respond(self, to, response, version)

    monkeypatch.setattr(ServerSession, "respond", echoing)
    with SandboxThread(sasl={"me": "right"}) as running:
        given = {name.replace(".", "_"): text for name, text in SASL.items()}
        for words in (["topics", "list"], ["doctor"], ["doctor", "--format", "json"], ["topics", "list", "-J"]):
            text = said(*words, code=5, bootstrap_servers=running.bootstrap, **given)
            assert CANARY not in text
            assert "***" in text


def test_a_token_provider_that_sends_the_clients_secret_back(said: Callable[..., str]) -> None:
    """As it is, and as it was sent: in the Authorization header."""

    class Echo(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.dumps(
                {"error": "no", "error_description": f"{CANARY} {self.headers['Authorization']}"}
            ).encode()
            self.send_response(401)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with SandboxThread(sasl={"me": "right"}) as running:
            text = said(
                "topics", "list", code=5, bootstrap_servers=running.bootstrap, security_protocol="SASL_PLAINTEXT",
                sasl_mechanism="OAUTHBEARER", sasl_oauthbearer_client_id="me", sasl_oauthbearer_client_secret=CANARY,
                sasl_oauthbearer_token_endpoint_url=f"http://127.0.0.1:{server.server_port}/token",
            )  # fmt: skip
    finally:
        server.shutdown()
        server.server_close()
    assert CANARY not in text
    assert b64encode(f"me:{CANARY}".encode()).decode() not in text
    assert "gave no token to client me: HTTP 401, no: ***" in text


OAUTH = {"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER", "sasl_oauthbearer_client_id": "me"}


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "properties", "code", "sentence"),
    [
        (["topics", "list", "-X", CANARY], {}, 2, "-X: expected KEY=VALUE"),
        (["cat", "-L", "-b", "x", "-X", CANARY], {}, 1, "-X"),
        (["-X", f"sasl.password={CANARY}"], {}, 2, "missing command"),
        (["help", f"-Xsasl.password={CANARY}"], {}, 2, "kcli help WORD"),
        (["topics", "list", "-X", "acks"], {}, 2, "-X acks: expected KEY=VALUE"),
        (["topics", "list", "-b", f"me:{CANARY}@127.0.0.1:1"], {}, 2, "sasl.username"),
        (["doctor", "-b", f"me:{CANARY}@127.0.0.1:1"], {}, 2, "sasl.username"),
        (["config", "show", "-b", f"me:{CANARY}@127.0.0.1:1"], {}, 0, "***@127.0.0.1:1"),
        (["cat", "-L", "-b", f"me:{CANARY}@127.0.0.1:1"], {}, 1, "sasl.username"),
        (["topics", "list"], {"sasl_password": f"${{command:sh -c 'echo {CANARY} >&2; false'}}",
                              "security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN", "sasl_username": "me"},
         2, "sh ended with exit code 1"),
        (["topics", "list"], {**OAUTH, "sasl_oauthbearer_client_secret": "x",
                              "sasl_oauthbearer_token_endpoint_url": f"http://127.0.0.1:1/t?client_secret={CANARY}"},
         5, "http://127.0.0.1:1/t cannot be reached"),
        (["topics", "list"], {**OAUTH, "sasl_oauthbearer_client_secret": "x",
                              "sasl_oauthbearer_token_endpoint_url": f"idp/t?client_secret={CANARY}"},
         2, "idp/t?***"),
        (["config", "show"], {**OAUTH, "sasl_oauthbearer_client_secret": "x",
                              "sasl_oauthbearer_token_endpoint_url": f"https://idp/t?client_secret={CANARY}"},
         0, "https://idp/t?***"),
    ],
)  # fmt: skip
def test_a_secret_in_the_wrong_place(
    words: list[str], properties: dict[str, str], code: int, sentence: str, said: Callable[..., str]
) -> None:
    given = {"bootstrap_servers": "127.0.0.1:1", **properties} if properties else {}
    if "OAUTHBEARER" in given.values() and code == 5:
        with SandboxThread(sasl={"me": "right"}) as running:
            text = said(
                *words,
                code=code,
                **{**given, "bootstrap_servers": running.bootstrap, "security_protocol": "SASL_PLAINTEXT"},
            )
    else:
        text = said(*words, code=code, **given)
    assert CANARY not in text
    assert sentence in text
