"""`kcli config add`, `remove` and `current`: what is checked, what is written, and what stays as it was."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kcli.cli.main import main
from kcli.sandbox.thread import SandboxThread
from tests.each import each

BEFORE = """# my clusters

default_profile = "one"   # the usual one

# the first cluster
[profiles.one]
bootstrap = "one:1"       # behind the VPN

# the second cluster
[profiles.two]
bootstrap = "two:1"
[profiles.two.broker_map]
"a:1" = "localhost:1"

# the third cluster
[profiles."th.ree"]
bootstrap = "three:1"
"""
DEAD = "127.0.0.1:1"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread() as started:
        yield started


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """config.toml, which is not there yet, of a user who has set no variable."""
    for name in [name for name in os.environ if name.startswith("KCLI_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / ".config" / "kcli" / "config.toml"


@pytest.fixture
def kept(file: Path) -> Path:
    """config.toml with profiles and comments."""
    file.parent.mkdir(parents=True)
    file.write_text(BEFORE)
    return file


def add(*words: str) -> int:
    return main(["config", "add", *words])


def sources(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, Any]]:
    """The rows of `config current` by their source, or by the file of a default_profile."""
    capsys.readouterr()
    assert main(["config", "current", "-J", *words]) == 0
    rows = json.loads(capsys.readouterr().out)["sources"]
    return {row["config_file"] or row["source"]: row for row in rows}


def applying(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, str | None]:
    """What applies: source → servers."""
    return {name: row["bootstrap"] for name, row in sources(capsys, *words).items() if row["applies"]}


def test_a_profile_is_checked_and_written_for_its_user_alone(
    file: Path, sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert add("dev", "-b", sandbox.bootstrap, "-X", "client.id=me") == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert re.match(rf"kcli: dev \(cluster \S+, 1 broker\) written to {file}; use it with --profile dev or", err)
    assert tomllib.loads(file.read_text()) == {
        "profiles": {"dev": {"bootstrap": sandbox.bootstrap, "client": {"id": "me"}}}
    }
    assert file.stat().st_mode & 0o777 == 0o600
    assert main(["topics", "list", "--profile", "dev"]) == 0


@each(
    ("words", "code", "message"),
    [
        (["x", "-b", DEAD], 5, "connection refused"),
        (["x", "-b", DEAD], 5, "x was not written: the check failed; --no-check writes it"),
        (["x", "-b", "http://one:8080"], 2, "the address of a web server"),
        (["x", "-b", "one:1:2"], 2, "more than one port"),
        (["x"], 2, "no servers are set; add -b HOST:PORT"),
        ([], 2, "needs one name"),
        (["x", "y", "-b", "one"], 2, "needs one name"),
        ([" ", "-b", "one"], 2, "printable"),
        (["x", "-b", "one", "-X", "linger.mss=1"], 2, "linger.mss"),
        (["x", "-b", "one", "-X", "acks=7"], 2, "acks must be one of"),
        (["x", "-b", "one", "-X", "security.protocol=TLS"], 2, "security.protocol"),
        (["x", "-b", "one", "-X", "sasl.password=${env}"], 2, "${env:"),
        (["x", "-b", "one", "--broker-map", "a"], 2, "--broker-map"),
        (["x", "-b", "one", "--read-only", "--protected"], 2, "--read-only is the stricter one"),
        (["x", "-F", "no-such.properties"], 2, "no-such.properties"),
    ],
)
def test_what_cannot_work_is_refused_and_nothing_is_written(
    file: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, message: str
) -> None:
    assert add(*words) == code
    assert message in capsys.readouterr().err
    assert not file.exists()


def test_what_fails_behind_a_connection_is_no_hindrance(file: Path, sandbox: SandboxThread) -> None:
    with SandboxThread(sasl={"me": "secret"}, super_users=["User:admin"], advertised="localhost") as secured:
        user = ["-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanism=SCRAM-SHA-256"]
        user += ["-X", "sasl.username=me"]
        wrong = ["-X", "sasl.password=wrong"]
        assert add("x", "-b", secured.bootstrap, *user, *wrong) == 5
        assert not file.exists()
        assert add("x", "-b", secured.bootstrap, *user, "-X", "sasl.password=secret") == 0
        assert file.exists()


def test_secrets_are_written_as_references(
    file: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = ["-X", "security.protocol=SASL_SSL", "-X", "sasl.mechanism=PLAIN", "-X", "sasl.username=me"]
    for name, given, written in (
        ("env", "${env:PASSWORD}", {"env": "PASSWORD"}),
        ("keyring", "${keyring:kafka/me}", {"keyring": "kafka/me"}),
        ("command", "${command:pass show 'a b'}", {"command": ["pass", "show", "a b"]}),
        ("file", "${file:secret.txt}", {"file": str(tmp_path / "project" / "secret.txt")}),
    ):
        assert add(name, "-b", "one:1", "--no-check", *secret, "-X", f"sasl.password={given}") == 0
        assert "plain text" not in capsys.readouterr().err
        assert tomllib.loads(file.read_text())["profiles"][name]["sasl"]["password"] == written
    assert add("plain", "-b", "one:1", "--no-check", *secret, "-X", "sasl.password=hunter2") == 0
    err = capsys.readouterr().err
    assert "sasl.password is plain text" in err
    assert "-X sasl.password='${env:NAME}'" in err
    assert "hunter2" not in err


def test_a_missing_secret_fails_the_check_as_a_wrong_configuration(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.username=me", "-X", "sasl.mechanism=PLAIN"]
    assert add("x", "-b", "localhost:1", *words, "-X", "sasl.password=${env:ABSENT}") == 2
    assert "environment variable ABSENT" in capsys.readouterr().err
    assert not file.exists()


def test_a_file_of_properties_becomes_a_profile_with_whole_names(file: Path, tmp_path: Path) -> None:
    authority = str(tmp_path / "ca.pem")
    Path(authority).write_text("")
    (tmp_path / "client.properties").write_text(
        "bootstrap.servers=one:1\nsecurity.protocol=SSL\nssl.ca.location=ca.pem\nlinger.ms=5\nkey.serializer=x\n"
    )
    assert add("x", "-F", "../client.properties", "-X", "linger.ms=7", "--no-check", "-q", "--protected") == 0
    assert add("y", "-b", "one", "-X", "security.protocol=SSL", "-X", "ssl.ca.location=../ca.pem", "--no-check") == 0
    assert tomllib.loads(file.read_text())["profiles"]["y"]["ssl"]["ca"]["location"] == authority
    assert tomllib.loads(file.read_text())["profiles"]["x"] == {
        "bootstrap": "one:1", "protected": True, "security": {"protocol": "SSL"},
        "ssl": {"ca": {"location": authority}}, "linger": {"ms": "7"},
    }  # fmt: skip


def test_what_stands_in_the_file_stays_with_its_comments(kept: Path) -> None:
    assert add("four", "-b", "four:1", "--no-check", "--broker-map", "a:1=localhost:2", "--read-only") == 0
    assert kept.read_text() == BEFORE + (
        '\n[profiles.four]\nbootstrap = "four:1"\nread_only = true\nbroker_map = { "a:1" = "localhost:2" }\n'
    )
    assert not Path(f"{kept}~").exists()


def test_a_profile_is_replaced_where_it_stands_and_only_when_told(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert add("two", "-b", "new:1", "--no-check") == 2
    assert "already has a profile two: --force replaces it" in capsys.readouterr().err
    assert kept.read_text() == BEFORE
    assert add("two", "-b", "new:1", "--no-check", "--force") == 0
    assert kept.read_text() == BEFORE.replace(
        'bootstrap = "two:1"\n[profiles.two.broker_map]\n"a:1" = "localhost:1"\n', 'bootstrap = "new:1"\n'
    )
    assert Path(f"{kept}~").read_text() == BEFORE


def test_default_writes_one_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert add("one", "-b", "one:1", "--no-check", "--default") == 0
    assert "it is now the default" in capsys.readouterr().err
    assert add("two", "-b", "two:1", "--no-check") == 0
    assert file.read_text().splitlines()[0] == 'default_profile = "one"'
    assert add("three", "-b", "three:1", "--no-check", "--default") == 0
    assert [line for line in file.read_text().splitlines() if "default" in line] == ['default_profile = "three"']
    assert applying(capsys) == {str(file): "three:1"}


def test_a_project_gets_no_reference_that_it_may_not_have(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert add("x", "-b", "one:1", "--to", ".kcli.toml", "--no-check") == 0
    assert 'bootstrap = "one:1"' in Path(".kcli.toml").read_text()
    words = ["-X", "sasl.password=${env:X}", "-X", "security.protocol=SASL_SSL", "-X", "sasl.username=me"]
    assert add("y", "-b", "one:1", "--to", ".kcli.toml", "--no-check", "-X", "sasl.mechanism=PLAIN", *words) == 2
    assert "trusted_projects" in capsys.readouterr().err
    assert "profiles.y" not in Path(".kcli.toml").read_text()


def test_a_profile_goes_with_its_comment_and_its_tables(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "remove", "two"]) == 0
    start, end = BEFORE.index("# the second"), BEFORE.index("# the third")
    assert kept.read_text() == BEFORE[:start] + BEFORE[end:]
    assert Path(f"{kept}~").read_text() == BEFORE
    assert "two removed from" in capsys.readouterr().err
    assert main(["config", "remove", "th.ree", "one"]) == 0
    assert kept.read_text() == "# my clusters\n"
    assert "which was the default_profile" in capsys.readouterr().err
    assert kept.stat().st_mode & 0o777 == 0o600


@each(
    ("words", "message"),
    [
        ([], "needs the names of profiles"),
        (["tow"], "has no profile tow; did you mean two?"),
        (["one", "absent"], "has no profile absent; `kcli config list` shows the profiles"),
        (["here"], "use --from"),
    ],
)
def test_what_is_not_there_is_not_removed(
    kept: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    Path(".kcli.toml").write_text('[profiles.here]\nbootstrap = "here:1"\n')
    assert main(["config", "remove", *words]) == 2
    assert message in capsys.readouterr().err
    assert kept.read_text() == BEFORE


def test_a_profile_of_the_project_is_removed_from_its_file(file: Path) -> None:
    Path(".kcli.toml").write_text('[profiles.here]\nbootstrap = "here:1"\n')
    assert main(["config", "remove", "here", "--from", ".kcli.toml"]) == 0
    assert Path(".kcli.toml").read_text() == ""


@each(
    "text",
    ['profiles = { two = { bootstrap = "x" } }\n', '[profiles]\ntwo = { bootstrap = "x" }\n',
     '[profiles.one]\nclient.id = """\n[profiles.two]\n"""\n[profiles.two]\nbootstrap = "x"\n'],
)  # fmt: skip
def test_a_file_that_cannot_be_changed_safely_is_left_alone(
    file: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    assert main(["config", "remove", "two"]) == 2
    assert "change it by hand" in capsys.readouterr().err
    assert file.read_text() == text


def test_current_says_what_applies_and_why(
    kept: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    user = str(kept)
    assert list(sources(capsys)) == [
        "--bootstrap-server", "--profile", "KCLI_BOOTSTRAP", "KCLI_PROFILE", user, "default"
    ]  # fmt: skip
    assert applying(capsys) == {user: "one:1"}
    Path(".kcli.toml").write_text('default_profile = "one"\n[profiles.one]\nbootstrap = "here:1"\n')
    assert applying(capsys) == {os.path.abspath(".kcli.toml"): "here:1"}
    monkeypatch.setenv("KCLI_PROFILE", "two")
    assert applying(capsys) == {"KCLI_PROFILE": "two:1"}
    assert applying(capsys, "--profile", "th.ree") == {"--profile": "three:1"}
    monkeypatch.setenv("KCLI_BOOTSTRAP_SERVERS", "environment:1")
    assert applying(capsys) == {"KCLI_BOOTSTRAP_SERVERS": "environment:1", "KCLI_PROFILE": None}
    monkeypatch.setenv("KCLI_BOOTSTRAP", "environment:2")
    assert applying(capsys)["KCLI_BOOTSTRAP"] == "environment:2"
    assert applying(capsys, "-b", "flag:1", "--profile", "one") == {"--bootstrap-server": "flag:1", "--profile": None}
    assert applying(capsys, "-X", "bootstrap.servers=x:1") == {"--bootstrap-server": "x:1", "KCLI_PROFILE": None}


def test_current_without_a_file_is_the_default(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert applying(capsys) == {"default": "localhost:9092"}


def test_a_profile_is_chosen(kept: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    names = list(tomllib.loads(BEFORE)["profiles"])
    assert main(["config", "use", names[-1]]) == 0
    assert f"commands now use {names[-1]}" in capsys.readouterr().err
    assert tomllib.loads(kept.read_text()) == {**tomllib.loads(BEFORE), "default_profile": names[-1]}
    assert main(["config", "list", "-J"]) == 0
    rows = json.loads(capsys.readouterr().out)["profiles"]
    assert [row["profile"] for row in rows if row["in_use"]] == [names[-1]]
    monkeypatch.setenv("KCLI_PROFILE", names[0])
    assert main(["config", "use", names[-1]]) == 0
    assert f"KCLI_PROFILE={names[0]} overrides it" in capsys.readouterr().err


def test_a_profile_that_there_is_not_is_not_chosen(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["nosuch"], ["a", "b"]):
        assert main(["config", "use", *words]) == 2
        assert "`kcli config list` shows" in capsys.readouterr().err
    assert kept.read_text() == BEFORE


def test_a_profile_of_a_project_is_no_default_elsewhere(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """config.toml would name a profile that it does not have, and every command in another folder would fail."""
    Path(".kcli.toml").write_text('[profiles.here]\nbootstrap = "here:1"\n')
    assert main(["config", "use", "here"]) == 2
    assert "here is a profile of" in capsys.readouterr().err
    assert kept.read_text() == BEFORE


def test_a_comment_stays_behind_the_default(kept: Path) -> None:
    assert main(["config", "use", "two"]) == 0
    assert 'default_profile = "two"   # the usual one\n' in kept.read_text()
