"""Profiles: who wins over whom, what a file may say, and what a read-only or protected one refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kcli.cli.main import main
from kcli.cli.parsing.groups import ConnectionOptions
from kcli.cli.runtime.connection import Connection, connection_of
from kcli.config.profiles import chosen, project_file
from kcli.config.properties.known import KNOWN
from kcli.config.properties.names import SECURITY
from kcli.errors import UsageError
from tests.cli.conftest import ROOT, Shell
from tests.each import each

USER = """
default_profile = "dev"
[profiles.dev]
bootstrap = "dev:1"
linger.ms = 7
"client.id" = "me"
[profiles.prod]
bootstrap = ["a:1", "b:2"]
read_only = true
acks = "all"
[profiles.shared]
bootstrap = "user:1"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's file, and a project below a git root where we are."""
    for name in ("KCLI_BOOTSTRAP", "KCLI_BOOTSTRAP_SERVERS", "KCLI_PROFILE", "KCLI_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "kcli").mkdir(parents=True)
    (tmp_path / "config" / "kcli" / "config.toml").write_text(USER)
    (tmp_path / "project" / "deep" / "er").mkdir(parents=True)
    (tmp_path / "project" / ".git").mkdir()
    monkeypatch.chdir(tmp_path / "project" / "deep" / "er")
    return tmp_path


def servers(**values: object) -> str:
    return ",".join(f"{host}:{port}" for host, port in Connection(ConnectionOptions(**values)).client().bootstrap)


@pytest.mark.parametrize(
    "line", ["bootstrap.servers", '"bootstrap.servers"', "bootstrap_servers", "bootstrap", "metadata.broker.list"]
)
def test_servers_are_those_of_the_profile_by_whichever_name(home: Path, line: str) -> None:
    (home / "config" / "kcli" / "config.toml").write_text(f'[profiles.one]\n{line} = "there:1"\n')
    assert servers(profile="one") == "there:1", "and never this machine's port 9092"


def test_who_wins_flag_environment_project_user_default(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert servers() == "dev:1"
    (home / "project" / ".kcli.toml").write_text('default_profile = "here"\n[profiles.here]\nbootstrap = "project:1"\n')
    assert servers() == "project:1"
    assert servers(profile="dev") == "dev:1"
    monkeypatch.setenv("KCLI_PROFILE", "prod")
    assert servers() == "a:1,b:2"
    assert servers(profile="dev") == "dev:1"
    monkeypatch.setenv("KCLI_BOOTSTRAP", "environment:1")
    assert servers() == "environment:1"
    assert servers(profile="dev") == "dev:1", "a flag is more than the environment"
    assert servers(bootstrap="flag:1", profile="dev") == "flag:1"
    assert servers(properties=["bootstrap.servers=x:1"]) == "x:1"


def test_nothing_anywhere_is_localhost(home: Path) -> None:
    (home / "config" / "kcli" / "config.toml").unlink()
    assert servers() == "localhost:9092"


def test_first_contact_names_the_ways_to_a_cluster(home: Path, kcli: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config" / "kcli" / "config.toml").unlink()
    monkeypatch.setattr("kcli.cli.runtime.connection.DEFAULT", "127.0.0.1:1")
    kcli.bootstrap = ""
    for words in (["topics", "list"], ["consume", "x", "-e"], ["lag"], ["doctor"]):
        done = kcli(*words)
        said = done.stderr.decode()
        assert done.returncode == 5
        for way in ("-b HOST:PORT", "KCLI_BOOTSTRAP", "kcli config add", "kcli sandbox"):
            assert way in said, words
        assert ("`kcli doctor` explains" in said) == (words != ["doctor"])
    assert b"no cluster is set" not in kcli("topics", "list", "-b", "127.0.0.1:1").stderr
    assert b"no cluster is set" not in kcli("doctor", "-b", "127.0.0.1:1").stderr


def test_variables_go_before_a_profile_that_no_flag_names(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flag, then environment, then profile: for properties as for servers."""
    monkeypatch.setenv("KCLI_LINGER_MS", "8")
    assert Connection(ConnectionOptions()).properties.producer == {"linger": 0.008}
    assert Connection(ConnectionOptions(profile="dev")).properties.producer == {"linger": 0.007}
    assert Connection(ConnectionOptions(properties=["linger.ms=9"])).properties.producer == {"linger": 0.009}


def test_a_read_only_profile_never_asks_for_topics_to_be_made(home: Path) -> None:
    given = ["allow.auto.create.topics=true"]
    assert Connection(ConnectionOptions(profile="dev", properties=given)).client().auto_create_topics
    assert not Connection(ConnectionOptions(profile="prod", properties=given)).client().auto_create_topics


@each("name", [*KNOWN, *SECURITY])
def test_every_property_may_be_written_with_its_dots(home: Path, name: str) -> None:
    text = f'[profiles.x]\nbootstrap = "x"\n{name} = "1"\n'
    (home / "config" / "kcli" / "config.toml").write_text(text)
    made = chosen("x")
    assert made is not None
    assert made.properties == ((name, "1"),)


def test_a_projects_profile_replaces_the_users_as_a_whole(home: Path) -> None:
    (home / "project" / ".kcli.toml").write_text('[profiles.dev]\nbootstrap = "project:1"\n')
    made = Connection(ConnectionOptions(profile="dev"))
    assert servers(profile="dev") == "project:1"
    assert made.properties.client == {}
    assert made.properties.producer == {}


def test_a_project_ends_at_its_git_root(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".kcli.toml").write_text("")
    assert project_file() is None
    outside = home / "no" / "git"
    outside.mkdir(parents=True)
    monkeypatch.chdir(outside)
    assert project_file() is None, "without a git root only the working directory counts"
    (outside / ".kcli.toml").write_text("")
    assert project_file() == str(outside / ".kcli.toml")


def test_properties_of_a_profile_come_before_those_of_the_command_line(home: Path) -> None:
    made = Connection(ConnectionOptions(properties=["linger.ms=9"]))
    assert made.properties.producer == {"linger": 0.009}
    assert made.client().client_id == "me"
    assert Connection(ConnectionOptions()).properties.producer == {"linger": 0.007}


def test_a_default_profile_is_left_alone_where_servers_are_named_otherwise(home: Path) -> None:
    for values in ({"bootstrap": "x:1"}, {"properties": ["bootstrap.servers=x:1"]}):
        made = Connection(ConnectionOptions(**values))
        assert (made.profile, made.client().client_id) == (None, "")
    assert Connection(ConnectionOptions(bootstrap="x:1", profile="dev")).client().client_id == "me"


def test_a_file_may_begin_with_a_byte_order_mark(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "config" / "kcli" / "config.toml"
    file.write_text("\ufeff" + USER.lstrip(), "utf-8")
    assert servers() == "dev:1"
    assert main(["config", "add", "more", "-b", "more:1", "--no-check", "-q"]) == 0
    assert servers(profile="more") == "more:1"
    assert servers() == "dev:1"


def test_a_name_with_a_space_is_quoted_where_it_can_be_pasted(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "add", "my prod", "-b", "more:1", "--no-check"]) == 0
    assert "use it with --profile 'my prod' or KCLI_PROFILE='my prod'" in capsys.readouterr().err


def test_a_project_file_that_is_left_alone_is_named(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "outside" / "deep").mkdir(parents=True)
    (home / "outside" / ".kcli.toml").write_text('default_profile = "there"\n[profiles.there]\nbootstrap = "evil:1"\n')
    monkeypatch.chdir(home / "outside" / "deep")
    assert servers() == "dev:1"
    file = home / "outside" / ".kcli.toml"
    assert capsys.readouterr().err == (
        f"kcli: {file} is only read in its own folder, because it is not in a git repository\n"
    )
    assert servers(profile="dev") == servers(quiet=True) == "dev:1"
    assert capsys.readouterr().err == ""


def test_a_login_without_a_protocol_is_answered_with_all_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topics", "list", "-b", "x:1", "-X", "sasl.username=ann"]) == 2
    assert "for example -X security.protocol=SASL_SSL -X sasl.mechanism=PLAIN" in capsys.readouterr().err


def test_a_second_cluster_of_one_command_line(home: Path) -> None:
    other = connection_of("prod", properties=["client.id=x"])
    assert [address.port for address in other.client().bootstrap] == [1, 2]
    assert (other.client().client_id, other.client().guard, other.client().profile) == ("x", "read_only", "prod")


@pytest.mark.parametrize(
    ("text", "name", "sentence"),
    [
        (USER, "pord", "unknown profile pord; did you mean prod?"),
        (USER, "zzz", "unknown profile zzz; known: dev, prod, shared"),
        ("", "zzz", "unknown profile zzz: no profile is defined in"),
        ("default_profile = 'x'", None, "config.toml: default_profile: unknown profile x"),
        ("defualt_profile = 'x'", "a", "unknown key defualt_profile; did you mean default_profile"),
        ("default_profile = 3", None, "default_profile must be a string"),
        ("profiles = 3", "a", "profiles must be tables"),
        ("[profiles.a]\nread_only = 'yes'", "a", "profile a: read_only must be true or false"),
        ("[profiles.a]\nx = 2020-01-01", "a", "profile a: x must be a string, a number, true, false or a list"),
        ("[profiles.a", "a", "config.toml: is not TOML: "),
        ("a = " + "[" * 5000, "a", "config.toml: is not TOML"),
    ],
)
def test_what_a_file_cannot_say_is_one_sentence(home: Path, text: str, name: str | None, sentence: str) -> None:
    (home / "config" / "kcli" / "config.toml").write_text(text)
    with pytest.raises(UsageError) as problem:
        chosen(name)
    assert sentence in str(problem.value)


def test_an_unknown_key_of_a_profile_names_the_profile_and_the_nearest(home: Path) -> None:
    (home / "config" / "kcli" / "config.toml").write_text('[profiles.a]\nbootstrap = "x"\nlingr.ms = 3\n')
    with pytest.raises(UsageError, match=r"profile a: unknown property lingr.ms; did you mean linger.ms"):
        Connection(ConnectionOptions(profile="a"))
    (home / "config" / "kcli" / "config.toml").write_text('[profiles.a]\nbootstrap = "x:y"\n')
    with pytest.raises(UsageError, match=r"profile a x:y: x:y has no valid port"):
        Connection(ConnectionOptions(profile="a")).client()


def test_a_configuration_that_is_named_must_be_there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCLI_CONFIG", str(home / "nowhere.toml"))
    with pytest.raises(UsageError, match="file not found"):
        chosen(None)


@pytest.mark.process
def test_start_up_imports_no_toml_without_a_profile(home: Path) -> None:
    (home / "config" / "kcli" / "config.toml").write_text("[profiles.dev]\n")
    code = (
        "import sys; from kcli.cli.runtime.connection import Connection, ConnectionOptions;"
        "Connection(ConnectionOptions()).client();"
        "print([m for m in ('tomllib', 're', 'difflib') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env={"PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(home / "config")},
        capture_output=True, timeout=30, check=True,
    )  # fmt: skip
    assert done.stdout == b"[]\n"


@pytest.fixture
def guarded(home: Path, kcli: Shell, monkeypatch: pytest.MonkeyPatch) -> str:
    """A topic with one record; the profiles look and keep are about its cluster."""
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=b"one\n")
    text = f'[profiles.look]\nbootstrap = "{kcli.bootstrap}"\nread_only = true\n'
    text += f'[profiles.keep]\nbootstrap = "{kcli.bootstrap}"\nprotected = true\n'
    (home / "config" / "kcli" / "config.toml").write_text(text)
    return topic


def test_a_read_only_profile_reads_and_nothing_else(kcli: Shell, guarded: str) -> None:
    look = ("--profile", "look")
    assert kcli.ok("consume", guarded, "-e", *look) == b"one\n"
    assert kcli.ok("count", guarded, *look) == b"1\n"
    assert kcli("topics", *look).returncode == kcli("lag", *look).returncode == kcli("groups", *look).returncode == 0
    for words, what in [
        (("produce", guarded), "producing"),
        (("consume", guarded, "-e", "-g", "g"), "joining a group"),
        (("topics", "create", "another"), "this"),
        (("topics", "delete", guarded, "--execute"), "this"),
    ]:
        done = kcli(*words, *look, stdin=b"two\n")
        assert (done.returncode, done.stdout) == (2, b""), words
        assert f"refused by read-only profile look: {what} would change the cluster".encode() in done.stderr
    assert kcli.ok("count", guarded) == b"1\n"


def test_a_protected_profile_wants_its_name_before_it_deletes(kcli: Shell, guarded: str) -> None:
    keep = ("--profile", "keep")
    assert kcli("produce", guarded, *keep, stdin=b"two\n").returncode == 0
    done = kcli("topics", "delete", guarded, "--execute", *keep)
    assert done.returncode == 2
    assert b"refused by protected profile keep; add --confirm keep" in done.stderr
    assert b"the profile in use is keep" in kcli("topics", "delete", guarded, *keep, "--confirm", "look").stderr
    assert kcli.ok("count", guarded) == b"2\n"
    assert kcli("topics", "delete", guarded, "--execute", *keep, "--confirm", "keep").returncode == 0


@pytest.mark.parametrize(("flag", "example"), [("--bootstrap-server", "HOST:PORT"), ("--profile", "NAME")])
def test_an_empty_name_is_no_other_cluster(kcli: Shell, flag: str, example: str) -> None:
    done = kcli("topics", "list", flag, "")
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"{flag} is empty; write {flag} {example}".encode() in done.stderr
