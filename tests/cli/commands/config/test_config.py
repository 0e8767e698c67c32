"""`kcli config`: what is in effect and where it is from, checks, other tools' files; and no secret anywhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from kcli.cli.main import main
from kcli.cli.parsing.groups import ConnectionOptions
from kcli.cli.runtime.connection import Connection
from kcli.config.profiles import chosen
from kcli.errors import UsageError
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import ROOT

CANARY = "hunter2-canary"
USER = f"""default_profile = "dev"

[profiles.dev]
bootstrap = "dev:1"
linger.ms = 7
[profiles.prod]
bootstrap = "a:1"
read_only = true
security.protocol = "SASL_SSL"
sasl.mechanism = "PLAIN"
sasl.username = "me"
sasl.password = {{ env = "PROD_PASSWORD" }}
[profiles.prod.broker_map]
"a:1" = "localhost:19092"
[profiles.plain]
bootstrap = "b:1"
sasl.password = "{CANARY}"
[profiles.bad]
bootstrap = "c:1"
linger.mss = 1
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's file, and a project below a git root where we are."""
    for name in [name for name in os.environ if name.startswith("KCLI_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    file = tmp_path / ".config" / "kcli" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(USER)
    file.chmod(0o600)
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def rows(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    """The rows of `kcli config … -J`."""
    assert main(["config", *words, "-J"]) == code
    document = json.loads(capsys.readouterr().out)
    found: list[dict[str, Any]] = next(value for value in document.values() if isinstance(value, list))
    return found


def test_profiles_are_listed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "project" / ".kcli.toml").write_text('[profiles.dev]\nbootstrap = "project:1"\n')
    found = rows(capsys, "list")
    assert [(row["profile"], row["bootstrap"], row["default"]) for row in found] == [
        ("dev", "project:1", True), ("dev", "dev:1", False), ("prod", "a:1", False), ("plain", "b:1", False),
        ("bad", "c:1", False),
    ]  # fmt: skip
    assert found[1]["note"] == f"overridden by {home}/project/.kcli.toml"
    assert (found[2]["protected"], found[2]["protocol"]) == ("read_only", "SASL_SSL")


def test_lists_take_the_options_of_lists(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["bad", "dev", "plain", "prod"]
    assert [row["profile"] for row in rows(capsys, "list", "--sort", "profile")] == names
    assert main(["config", "list", "--sort", "profile", "--top", "1", "--columns", "profile", "--no-headers"]) == 0
    assert capsys.readouterr().out == "bad\n"
    assert main(["config", "show", "prod", "--columns", "property", "--sort", "property:desc", "--top", "1"]) == 0
    assert capsys.readouterr().out == "PROPERTY\nsecurity.protocol\n"
    assert main(["config", "current", "--columns", "source", "--no-headers", "--top", "1"]) == 0
    assert capsys.readouterr().out == "--bootstrap-server\n"
    for verb in ("list", "show", "current"):
        assert main(["config", verb, "--watch", "--interval", "1ms", "--refreshes", "2", "-J"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 2, verb
        assert main(["config", verb, "--refreshes", "2"]) == 2
        assert capsys.readouterr().err == "kcli: --interval and --refreshes require --watch\n"


def test_where_each_value_is_from(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = home / ".config" / "kcli" / "config.toml"
    monkeypatch.setenv("KCLI_LINGER_MS", "9")
    properties = home / "c.properties"
    properties.write_text("# x\nacks=all\nclient.id=f\n")
    found = rows(capsys, "show", "prod", "-X", "acks=1", "-F", str(properties), "--broker-map", "x=y")
    assert [(row["property"], row["value"], row["from"]) for row in found] == [
        ("profile", "prod", "--profile"),
        ("bootstrap.servers", "a:1", f"{file}:7"),
        ("read_only", "true", f"{file}:8"),
        ("broker_map", "x=y", "--broker-map"),
        ("broker_map", "a:1=localhost:19092", f"{file}:14"),
        ("linger.ms", "9", "KCLI_LINGER_MS"),
        ("security.protocol", "SASL_SSL", f"{file}:9"),
        ("sasl.mechanism", "PLAIN", f"{file}:10"),
        ("sasl.username", "me", f"{file}:11"),
        ("sasl.password", "{env: PROD_PASSWORD}", f"{file}:12"),
        ("client.id", "f", f"{properties}:3"),
        ("acks", "1", "-X acks"),
    ]


def test_without_anything_the_default_is_shown(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".config" / "kcli" / "config.toml").unlink()
    assert rows(capsys, "show") == [{"property": "bootstrap.servers", "value": "localhost:9092", "from": "default"}]
    everything = {row["property"]: row["value"] for row in rows(capsys, "show", "--all")}
    assert (everything["linger.ms"], everything["acks"], everything["fetch.max.bytes"]) == ("5", "all", "8388608")


LONG = "Zq7-" + "".join(f"{number:03d}xK" for number in range(60)) + "-tail9"


@pytest.mark.parametrize("form", ["table", "json", "csv", "plain"])
@pytest.mark.parametrize(
    "key",
    [
        "sasl.password",
        "ssl.key.pem",
        "ssl.keystore.key",
        "sasl.jaas.config",
        "sasl.oauthbearer.client.secret",
        "schema.registry.basic.auth.user.info",
        "schema.registry.bearer.auth.token",
    ],
)
def test_no_part_of_a_long_secret_is_shown(key: str, form: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A password of 300 characters is hidden to its end, in a column that is too narrow for it, too."""
    (home / "secrets.properties").write_text(f"{key}={LONG}\n")
    main(["config", "show", "-b", "a:1", "--format", form, "-F", str(home / "secrets.properties")])
    said = "".join(capsys.readouterr())
    assert key in said
    assert [LONG[at : at + 4] for at in range(len(LONG) - 3) if LONG[at : at + 4] in said] == []


@pytest.mark.parametrize(
    ("key", "url", "shown"),
    [
        ("schema.registry.url", "http://me:p@ss@sr:8081/x", "http://***@sr:8081/x"),
        ("schema.registry.url", "http://me:p@ss@one:1,https://me:w@rd@two:2", "http://***@one:1,https://***@two:2"),
        ("schema.registry.url", "http://me:p/a@ss@sr:8081", "http://***@sr:8081"),
        ("schema.registry.url", "http://me:p?a@ss@sr:8081", "http://***@sr:8081"),
        ("schema.registry.url", "http://me:p?a=@ss@sr:8081", "http://***@sr:8081"),
        ("schema.registry.url", "http://me:p#a=@ss@sr:8081/y?token=x", "http://***@sr:8081/y?***"),
        ("sasl.oauthbearer.token.endpoint.url", "https://me:p@ss@idp/token?key=v", "https://***@idp/token?***"),
        ("schema.registry.url", "http://sr:8081/a@b", "http://sr:8081/a@b"),
        ("schema.registry.url", "http://[::1]:8081/a@b", "http://[::1]:8081/a@b"),
        ("bootstrap.servers", "a:1,[::1]:2,c", "a:1,[::1]:2,c"),
        ("bootstrap.servers", "me:p@ss@a:1,me:p,w@b:2,c:3", "***@a:1,***@b:2,c:3"),
    ],
)
def test_a_password_with_special_characters_is_hidden_in_an_address(
    key: str, url: str, shown: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["-b", url] if key == "bootstrap.servers" else ["-b", "a:1", "-X", f"{key}={url}"]
    (value,) = [row["value"] for row in rows(capsys, "show", *words) if row["property"] == key]
    assert value == shown


def test_profiles_are_checked(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    found = {row["profile"]: row for row in rows(capsys, "check", code=1)}
    assert {name: row["result"] for name, row in found.items()} == {
        "dev": "ok", "prod": "ok", "plain": "ok", "bad": "failed",
    }  # fmt: skip
    assert "did you mean linger.ms" in found["bad"]["note"]
    assert rows(capsys, "check", "prod", "--secrets", code=1)[0]["note"].endswith("variable PROD_PASSWORD is not set")
    monkeypatch.setenv("PROD_PASSWORD", CANARY)
    assert rows(capsys, "check", "prod", "--secrets")[0]["result"] == "ok"
    assert main(["config", "check", "pord"]) == 2
    assert "did you mean prod" in capsys.readouterr().err


def test_a_file_with_secrets_that_others_can_read_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".config" / "kcli" / "config.toml").chmod(0o644)
    (row,) = rows(capsys, "check", "plain")
    assert row["result"] == "warning"
    assert "contains sasl.password and can be read by other users: chmod 600 it" in row["note"]


def test_a_file_that_is_not_there_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "project" / ".kcli.toml").write_text(
        '[profiles.x]\nbootstrap = "x"\nsecurity.protocol = "SSL"\nssl.ca.location = "/no/ca.pem"\n'
    )
    (row,) = rows(capsys, "check", "x", code=1)
    assert row["note"] == "ssl.ca.location: /no/ca.pem does not exist"


def test_the_path_is_a_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "path"]) == 0
    assert capsys.readouterr().out == f"{home}/.config/kcli/config.toml\n"


# -- a stranger's project ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        'sasl.password = { env = "AWS_SECRET_ACCESS_KEY" }',
        'sasl.password = { command = ["touch", "/tmp/owned"] }',
        'sasl.password = "${file:~/.ssh/id_rsa}"',
        'sasl.oauthbearer.token.command = "touch /tmp/owned"',
        'sasl.oauthbearer.token.file = "/etc/shadow"',
    ],
)
def test_a_projects_file_takes_nothing_from_elsewhere_unless_it_is_trusted(home: Path, line: str) -> None:
    (home / "project" / ".kcli.toml").write_text(f'default_profile = "x"\n[profiles.x]\nbootstrap = "evil:1"\n{line}\n')
    with pytest.raises(UsageError, match=r"trusted_projects = \["):
        chosen(None)
    file = home / ".config" / "kcli" / "config.toml"
    file.write_text(f'trusted_projects = ["{home}/project"]\n')
    assert chosen(None) is not None


# -- other tools' files ------------------------------------------------------------------------------------------------

KAF = f"""current-cluster: prod
clusteroverride: ""
clusters:
- name: local
  brokers:
  - localhost:9092
  SASL: null
  TLS: null
  security-protocol: ""
- name: prod
  version: "2.5.0"
  brokers: ["b1:9093", "b2:9093"]
  SASL:
    mechanism: SCRAM-SHA-256
    username: kafka
    password: "{CANARY}: #\\"1\\""   # quoted
  TLS:
    cafile: /etc/ca.pem
    clientfile: ""
    insecure: false
  security-protocol: SASL_SSL
  schema-registry-url: https://sr
"""
KAFKACTL = f"""contexts:
    default:
        brokers:
            - localhost:9092
    remote:
        brokers: [r1:9092, r2:9092]
        tls:
            enabled: true
            ca: my-ca
            cert: my-cert
            certKey: my-key
            # optional: passphrase for encrypted cert key
            certKeyPassphrase: my-passphrase
            insecure: true
        sasl:
            enabled: true
            username: admin
            password: '{CANARY}''s'
            mechanism: scram-sha512
        clientID: me
        producer:
            requiredAcks: WaitForAll
            maxMessageBytes: 2000000
        consumer:
            isolationLevel: ReadCommitted
        kubernetes:
            enabled: false
current-context: default
"""
KCL = f"""current_profile = "prod"
[profiles.prod]
seed_brokers = ["k1:9092", "k2"]
[profiles.prod.tls]
ca_cert_path = "/ca.pem"
server_name = "kafka.internal"
[profiles.prod.sasl]
method = "scram-sha-512"
user = "u"
pass = "{CANARY}"
"""
RPK = f"""version: 3
current_profile: cloud
profiles:
    - name: cloud
      description: ""
      kafka_api:
        brokers:
            - seed.cloud:9092
        tls: {{}}
        sasl:
            user: me
            password: {CANARY}
            mechanism: SCRAM-SHA-256
      admin_api:
        addresses:
            - localhost:9644
"""
KCAT = f"""# my cluster
bootstrap.servers=k:9092
security.protocol=SASL_SSL
sasl.mechanisms=PLAIN
sasl.username=me
sasl.password={CANARY}
log.connection.close=false
"""
FILES = {
    "kaf": (".kaf/config", KAF, ["local", "prod"]),
    "kafkactl": (".config/kafkactl/config.yml", KAFKACTL, ["default", "remote"]),
    "kcl": (".config/kcl/config.toml", KCL, ["prod"]),
    "rpk": (".config/rpk/rpk.yaml", RPK, ["cloud"]),
    "kcat": (".config/kcat.conf", KCAT, ["kcat"]),
}
EXPECTED = {
    "kaf": ("b1:9093,b2:9093", {
        "security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-256", "sasl.username": "kafka",
        "sasl.password": f'{CANARY}: #"1"', "ssl.ca.location": "/etc/ca.pem",
    }),
    "kafkactl": ("r1:9092,r2:9092", {
        "security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "admin",
        "sasl.password": f"{CANARY}'s", "ssl.ca.location": "my-ca", "ssl.certificate.location": "my-cert",
        "ssl.key.location": "my-key", "ssl.key.password": "my-passphrase", "max.request.size": "2000000",
        "enable.ssl.certificate.verification": "false", "client.id": "me", "acks": "all",
        "isolation.level": "read_committed",
    }),
    "kcl": ("k1:9092,k2", {
        "security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "u",
        "sasl.password": CANARY, "ssl.ca.location": "/ca.pem", "ssl.server.name": "kafka.internal",
    }),
    "rpk": ("seed.cloud:9092", {
        "security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-256", "sasl.username": "me",
        "sasl.password": CANARY,
    }),
    "kcat": ("k:9092", {
        "security.protocol": "SASL_SSL", "sasl.mechanisms": "PLAIN", "sasl.username": "me", "sasl.password": CANARY,
    }),
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_other_tools_files_become_profiles(home: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    where, text, names = FILES[kind]
    (home / where).parent.mkdir(parents=True, exist_ok=True)
    (home / where).write_text(text)
    assert main(["config", "import", kind]) == 0
    shown = capsys.readouterr()
    assert [line for line in shown.out.splitlines() if line.startswith("[")] == [f"[profiles.{name}]" for name in names]
    assert CANARY not in shown.out + shown.err
    assert re.search(r"(1 secret is|2 secrets are) hidden", shown.err)
    target = home / "mine.toml"
    assert main(["config", "import", kind, "--write", "--to", str(target), "-q"]) == 0
    assert target.stat().st_mode & 0o777 == 0o600
    assert capsys.readouterr() == ("", "")
    os.environ["KCLI_CONFIG"] = str(target)
    try:
        made = chosen(names[-1])
    finally:
        del os.environ["KCLI_CONFIG"]
    assert made is not None
    assert (made.bootstrap, dict(made.properties)) == EXPECTED[kind]


def _imported(home: Path, kind: str, text: str, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], str]:
    """The profiles that a file becomes, and what was said."""
    (home / "other").write_text(text)
    assert main(["config", "import", kind, str(home / "other"), "--reveal"]) == 0
    shown = capsys.readouterr()
    return tomllib.loads(shown.out)["profiles"], shown.err


def test_a_file_that_kafkactl_has_written_itself_has_its_keys_in_small_letters(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Viper does it. Without their own spelling the key of the certificate was lost, and nobody was told."""
    small = re.sub(r"^( *)(\w+):", lambda found: f"{found[1]}{found[2].lower()}:", KAFKACTL, flags=re.M)
    small = small.replace("    remote:", "    Remote:").replace("current-context: default", "current-context: remote")
    made, said = _imported(home, "kafkactl", small, capsys)
    assert made.keys() == {"default", "Remote"}
    usual, _ = _imported(home, "kafkactl", KAFKACTL, capsys)
    assert made["Remote"] == usual["remote"]
    assert made["Remote"]["ssl"]["key"] == {"location": "my-key", "password": "my-passphrase"}
    assert "kafkactl uses it now: --profile Remote" in said


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("rpk", "profiles:\n  - name: x\n    kafka_api:\n      brokers: a:9092,b:9092\n"),
        ("kaf", "clusters:\n- name: x\n  brokers: a:9092, b:9092\n"),
        ("kafkactl", "contexts:\n  x:\n    brokers: a:9092 b:9092\n"),
        ("kcl", '[profiles.x]\nseed_brokers = "a:9092,b:9092"\n'),
    ],
)
def test_servers_may_be_one_text(home: Path, kind: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    made, _ = _imported(home, kind, text, capsys)
    assert made == {"x": {"bootstrap": "a:9092,b:9092"}}


@pytest.mark.parametrize(("tls", "protocol"), [("null", None), ("{}", "SSL"), ("", None)])
def test_tls_with_nothing_in_it_is_tls_and_null_is_none(
    home: Path, tls: str, protocol: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind, text in (
        ("rpk", f"profiles:\n  - name: x\n    kafka_api:\n      brokers: [a:1]\n      tls: {tls}\n"),
        ("kaf", f"clusters:\n- name: x\n  brokers: [a:1]\n  TLS: {tls}\n"),
    ):
        made, _ = _imported(home, kind, text, capsys)
        assert made["x"].get("security", {}).get("protocol") == protocol, kind


def test_check_tells_of_a_key_without_its_certificate(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / ".config" / "kcli" / "config.toml"
    file.write_text('[profiles.x]\nbootstrap = "a:1"\nsecurity.protocol = "SSL"\nssl.key.pem = "KEY"\n')
    file.chmod(0o600)
    assert main(["config", "check"]) == 1
    assert "has no certificate: set" in capsys.readouterr().out


def test_a_check_of_names_that_java_switches_off_with_nothing_stays_off_and_servers_may_be_missing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As Strimzi and others have it in their documentation."""
    text = "security.protocol=SSL\nssl.endpoint.identification.algorithm=\nssl.truststore.type=PKCS12\n"
    (home / "client.properties").write_text(text)
    assert main(["config", "import", str(home / "client.properties"), "--name", "strimzi"]) == 0
    shown = capsys.readouterr()
    assert 'ssl.endpoint.identification.algorithm = "none"' in shown.out
    assert "bootstrap" not in shown.out
    assert "strimzi: no servers are set: add bootstrap, or use -b with --profile strimzi" in shown.err


def test_kcls_folder_may_be_elsewhere(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "config.toml").write_text('seed_brokers = ["there:9092"]\n')
    monkeypatch.setenv("KCL_CONFIG_DIR", str(home))
    assert main(["config", "import", "kcl", "-q"]) == 0
    assert 'bootstrap = "there:9092"' in capsys.readouterr().out


@pytest.mark.parametrize("written", ["scram_sha512", "SCRAM-SHA-512", "scram-sha-512", "scramsha512"])
def test_a_mechanism_is_the_same_however_a_tool_writes_it(
    home: Path, written: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "kcl.toml").write_text(f'seed_brokers = ["k:1"]\n[sasl]\nmethod = "{written}"\nuser = "me"\npass = "x"\n')
    assert main(["config", "import", "kcl", str(home / "kcl.toml"), "-q"]) == 0
    assert 'sasl.mechanism = "SCRAM-SHA-512"' in capsys.readouterr().out


def test_a_file_that_was_named_from_its_folder_is_found_from_everywhere(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = home / "elsewhere"
    folder.mkdir()
    (folder / "ca.pem").write_text("")
    (folder / "client.properties").write_text(
        "bootstrap.servers=x:1\nsecurity.protocol=SSL\nssl.ca.location=ca.pem\nssl.certificate.location=mine.pem\n"
    )
    assert main(["config", "import", str(folder / "client.properties")]) == 0
    shown = capsys.readouterr()
    assert f'ssl.ca.location = "{folder / "ca.pem"}"' in shown.out
    assert 'ssl.certificate.location = "mine.pem"' in shown.out
    assert "client: ssl.certificate.location: mine.pem is relative to the working directory" in shown.err


def test_what_is_left_out_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "client.properties").write_text("bootstrap.servers=x:1\nkey.serializer=y\nlinger.ms=5\n")
    assert main(["config", "import", str(home / "client.properties"), "--name", "j"]) == 0
    shown = capsys.readouterr()
    assert shown.out == '[profiles.j]\nbootstrap = "x:1"\nlinger.ms = "5"\n'
    assert shown.err == "kcli: j: omitted: key.serializer\n"


def test_a_profile_that_is_there_is_replaced_only_by_force(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / ".config" / "kcli" / "config.toml"
    (home / "new.properties").write_text("bootstrap.servers=new:1\n")
    words = ["config", "import", "properties", str(home / "new.properties"), "--name", "prod", "--write"]
    assert main(words) == 2
    assert "already has a profile prod: --force replaces it" in capsys.readouterr().err
    assert file.read_text() == USER
    assert main([*words, "--force"]) == 0
    assert Path(f"{file}~").read_text() == USER
    made = chosen("prod")
    assert made is not None
    assert (made.bootstrap, made.guard, made.broker_map) == ("new:1", "", ())
    plain, dev = chosen("plain"), chosen(None)
    assert plain is not None
    assert dev is not None
    assert (plain.bootstrap, dev.name) == ("b:1", "dev")
    assert not list(file.parent.glob("config.toml.*"))


def test_a_file_that_nothing_can_be_added_to_is_left_as_it_is(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / ".config" / "kcli" / "config.toml"
    file.write_text('profiles = { dev = { bootstrap = "x" } }\n')
    (home / "new.properties").write_text("bootstrap.servers=new:1\n")
    assert main(["config", "import", str(home / "new.properties"), "--write"]) == 2
    assert "change it by hand" in capsys.readouterr().err
    assert file.read_text() == 'profiles = { dev = { bootstrap = "x" } }\n'


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "kcat, kaf, kafkactl, kcl, rpk"),
        (["kafkctl"], "did you mean kafkactl"),
        (["kaf"], "no configuration file of kaf (~/.kaf/config)"),
        (["kaf", "/no/such"], "No such file"),
    ],
)
def test_what_cannot_be_imported_is_told(
    home: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "import", *words]) == 2
    assert says in capsys.readouterr().err


# -- no secret anywhere ------------------------------------------------------------------------------------------------

ARGUMENTS = ["-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanism=PLAIN", "-X", "sasl.username=me"]


@pytest.mark.process
@pytest.mark.parametrize(
    "words",
    [
        ["topics", "list"], ["topics", "list", "--trace", "-v"], ["consume", "t", "-e", "--trace"], ["doctor", "-J"],
        ["config", "show", "-J"], ["doctor", "-X", "sasl.mechanism=SCRAM-SHA-512"],
        ["topics", "list", "-X", "sasl.mechanism=GSSAPI"], ["topics", "list", "-X", "nonsense.key=1"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_secret_is_in_no_output_whether_it_works_or_not(home: Path, words: list[str]) -> None:
    """The canary, plain and as it looks in base64 and hex, from a process whose every output is kept."""
    encoded = __import__("base64").b64encode(CANARY.encode()).decode()[:-4]
    for password in (CANARY, "other"):
        with SandboxThread(topics={"t": 1}, sasl={"me": password}) as sandbox:
            done = subprocess.run(
                [sys.executable, "-X", "dev", "-m", "kcli", *words, "-b", sandbox.bootstrap, *ARGUMENTS],
                env={**os.environ, "KCLI_SASL_PASSWORD": CANARY, "PYTHONPATH": str(ROOT)}, capture_output=True,
                timeout=60, cwd=home, check=False,
            )  # fmt: skip
        said = (done.stdout + done.stderr).decode()
        assert "Traceback" not in said
        assert said
        if words[:2] == ["topics", "list"] and "-X" not in words:
            assert done.returncode == (0 if password == CANARY else 5)
        for form in (CANARY, encoded, CANARY.encode().hex()):
            assert form not in said


def test_a_secret_is_in_no_settings_and_no_traceback(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCLI_SASL_PASSWORD", CANARY)
    settings = Connection(
        ConnectionOptions(bootstrap="x:1", properties=[word for word in ARGUMENTS if word != "-X"])
    ).client()
    assert CANARY not in repr(settings)
    assert settings.security is not None
    assert settings.security.sasl is not None
    assert settings.security.sasl.password is not None
    assert settings.security.sasl.password.reveal() == CANARY
