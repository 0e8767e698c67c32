"""One rule for files that name a cluster: theirs or root's, and nobody else can write them. Else a project's file is
ignored, and no other one runs a command."""

from __future__ import annotations

import grp
import os
import pwd
from pathlib import Path

import pytest

from kcli.cli.main import main
from kcli.cli.parsing.groups import ConnectionOptions
from kcli.cli.runtime.connection import Connection
from kcli.errors import UsageError
from kcli.pipeline.connection import sealed_of
from tests.each import each

STRANGER = 12345
PROJECT = 'default_profile = "here"\n[profiles.here]\nbootstrap = "127.0.0.1:2"\n'
COMMANDS = {
    "sasl.password": "${command:touch ran}",
    "client.id": "${command:touch ran}",
    "sasl.oauthbearer.token.command": "touch ran",
    "schema.registry.bearer.auth.token.command": "touch ran",
    "bearer.auth.token.command": "touch ran",
    "schema.registry.url": "${command:touch ran}",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with its user's own file beside it."""
    for name in [name for name in os.environ if name.startswith("KCLI_")]:
        monkeypatch.delenv(name)
    user = tmp_path / "user.toml"
    user.write_text('default_profile = "own"\n[profiles.own]\nbootstrap = "127.0.0.1:1"\n')
    user.chmod(0o600)
    monkeypatch.setenv("KCLI_CONFIG", str(user))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def distrusted(path: Path) -> list[tuple[str, str]]:
    """Make a file untrusted, one way after the other: the way, and what is said of it."""
    ways = [("others", "can be written by other users (chmod go-w it)")]
    if os.geteuid() == 0:
        ways += [("group", "can be written by other users"), ("owner", "belongs to another user")]
        ways += [("link", "belongs to another user")]
    return ways


def spoil(path: Path, way: str) -> None:
    path.chmod({"group": 0o664, "others": 0o646}.get(way, 0o644))
    if way == "owner":
        os.chown(path, STRANGER, STRANGER)
    elif way == "group":
        os.chown(path, -1, STRANGER)
    elif way == "link":
        path.rename(path.with_name("target"))
        path.symlink_to("target")
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)


def test_the_group_of_this_user_alone_may_write(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where each user has a group, as on Debian and Fedora, a clone has files of mode 664."""
    group = grp.getgrgid(os.getgid())
    if group.gr_name != pwd.getpwuid(os.geteuid()).pw_name or group.gr_mem:
        return
    (place / ".kcli.toml").write_text(PROJECT)
    (place / ".kcli.toml").chmod(0o664)
    main(["topics", "list"])
    assert f"{place}/.kcli.toml chooses the cluster" in capsys.readouterr().err


@each("way", ["group", "others", "owner", "link"])
def test_a_project_file_that_others_could_have_written_is_ignored(
    place: Path, capsys: pytest.CaptureFixture[str], way: str
) -> None:
    if way != "others" and os.geteuid() != 0:
        return
    file = place / ".kcli.toml"
    file.unlink(missing_ok=True)
    file.write_text(PROJECT)
    spoil(file, way)
    reason = dict(distrusted(file))[way]
    for words in (["topics", "list", "-J"], ["topics", "list"], ["topics", "list", "--profile", "own"]):
        assert main(words) == 5
        told = capsys.readouterr()
        assert "127.0.0.1:1:" in told.err
        assert [line for line in told.err.splitlines() if "ignored" in line] == [
            line for line in told.err.splitlines() if line.startswith(f"kcli: {file} {reason}") and "so it is" in line
        ]
        assert told.err.count("ignored") == 1
        assert "ignored" not in told.out
    assert main(["topics", "list", "-q"]) == 5
    assert "ignored" not in capsys.readouterr().err
    assert main(["topics", "list", "--profile", "here"]) == 2
    assert f"unknown profile here; known: own; {file} {reason}" in capsys.readouterr().err
    assert main(["config", "list", "-J"]) == 0
    told = capsys.readouterr()
    assert ("here" in told.out, told.err.count("ignored")) == (False, 1)
    assert main(["topics", "list", "-b", "127.0.0.1:3"]) == 5
    assert "ignored" not in capsys.readouterr().err, "it is not consulted"
    said: list[str] = []
    assert sealed_of({}, said.append).servers == "127.0.0.1:1"
    assert len([line for line in said if line.startswith(f"{file} {reason}")]) == 1


def test_a_project_file_that_chooses_the_cluster_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = place / ".kcli.toml"
    here = f"kcli: {file} chooses the cluster: profile here, 127.0.0.1:2\n"
    own = f"kcli: {file} chooses the cluster: profile own, 127.0.0.1:1\n"
    for text, words, line in (
        (PROJECT, [], here),
        (PROJECT, ["--profile", "here"], here),
        ('default_profile = "own"', [], own),
        (PROJECT, ["-q"], ""),
        (PROJECT, ["--profile", "own"], ""),
        (PROJECT, ["-b", "127.0.0.1:3"], ""),
        (PROJECT, ["-b", "127.0.0.1:3", "--profile", "here"], ""),
        ("", [], ""),
    ):
        file.write_text(text)
        assert main(["topics", "list", "-J", *words]) == 5
        told = capsys.readouterr()
        assert "".join(one for one in told.err.splitlines(keepends=True) if "chooses" in one) == line, words
        assert "chooses" not in told.out
    file.write_text(PROJECT)
    said: list[str] = []
    assert sealed_of({}, said.append).servers == "127.0.0.1:2"
    assert said == [here.removeprefix("kcli: ").strip()]
    assert main(["__complete", "bash", "kcli topics list --profile ", ""]) == 0
    told = capsys.readouterr()
    assert (told.err, "here" in told.out, "chooses" in told.out) == ("", True, False)


def test_a_project_file_of_this_user_runs_no_command_either(place: Path) -> None:
    for key, value in COMMANDS.items():
        (place / ".kcli.toml").write_text(f"{PROJECT}{key} = '{value}'\n")
        with pytest.raises(UsageError, match="trusted_projects"):
            Connection(ConnectionOptions()).client()
    assert not (place / "ran").exists()


def lines(path: Path) -> dict[str, list[str]]:
    """Every way to name a file of properties or profiles, with an option that makes it be read."""
    return {
        "-F": ["topics", "list", "-F", str(path)],
        "cat -F": ["cat", "-L", "-F", str(path)],
        "KCAT_CONFIG": ["cat", "-L", "-b", "127.0.0.1:1"],
        "config add": ["config", "add", "new", "--no-check", "-F", str(path), "--to", "new.toml"],
        "config import": ["config", "import", "properties", str(path), "--write", "--to", "new.toml"],
        "KCLI_CONFIG": ["topics", "list"],
        "config check": ["config", "check", "--secrets"],
    }


def test_no_command_is_run_from_a_file_that_others_could_have_written(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = place / "client.properties"
    for way, reason in distrusted(file):
        for name, words in lines(file).items():
            toml = name in ("KCLI_CONFIG", "config check")
            monkeypatch.setenv("KCAT_CONFIG", str(file if name == "KCAT_CONFIG" else place / "none"))
            monkeypatch.setenv("KCLI_CONFIG", str(file if toml else place / "absent"))
            if not toml:
                monkeypatch.delenv("KCLI_CONFIG")
                monkeypatch.setenv("XDG_CONFIG_HOME", str(place))
            if name == "cat -F":
                monkeypatch.delenv("KCAT_CONFIG")
            for key, value in COMMANDS.items():
                file.unlink(missing_ok=True)
                text = f"[profiles.a]\nbootstrap = '127.0.0.1:1'\n{key} = '{value}'\n" if toml else ""
                file.write_text(
                    f"default_profile = 'a'\n{text}" if toml else f"bootstrap.servers=127.0.0.1:1\n{key}={value}\n"
                )
                spoil(file, way)
                assert main(words) != 0, (way, name, key)
                told = capsys.readouterr()
                assert f"{key} runs a command, which is refused because {file} {reason}" in told.out + told.err, (
                    way, name, key, told.err,
                )  # fmt: skip
    assert not (place / "ran").exists()
    assert not (place / "new.toml").exists()


def test_plain_properties_of_such_a_file_are_read(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = place / "client.properties"
    for way, _ in distrusted(file):
        file.unlink(missing_ok=True)
        file.write_text("bootstrap.servers=127.0.0.1:7\nclient.id=me\n")
        spoil(file, way)
        client = Connection(ConnectionOptions(config_file=str(file))).client()
        assert ([address.port for address in client.bootstrap], client.client_id) == ([7], "me")
        assert main(["cat", "-L", "-F", str(file)]) == 1
        assert "127.0.0.1:7" in capsys.readouterr().err


@pytest.mark.process
def test_a_file_of_this_user_or_of_root_runs_its_commands(place: Path) -> None:
    """Mounts of Kubernetes are root's; a pipe is this user's."""
    file = place / "client.properties"
    file.write_text("bootstrap.servers=127.0.0.1:7\nclient.id=${command:echo me}\n")
    into, out = os.pipe()
    os.write(out, file.read_bytes())
    os.close(out)
    for path in (str(file), f"/dev/fd/{into}"):
        assert Connection(ConnectionOptions(config_file=path)).client().client_id == "me"
    os.close(into)


@pytest.mark.process
def test_trusted_projects_count_in_a_trusted_file_only(place: Path, tmp_path: Path) -> None:
    (place / ".kcli.toml").write_text(f"{PROJECT}client.id = {{ command = ['echo', 'me'] }}\n")
    user = tmp_path / "user.toml"
    user.write_text(f'trusted_projects = ["{place}"]\n')
    assert Connection(ConnectionOptions()).client().client_id == "me"
    user.chmod(0o666)
    with pytest.raises(
        UsageError, match=r"user.toml, which can be written by other users \(chmod go-w it\), has: trus"
    ):
        Connection(ConnectionOptions())


@each(
    ("kind", "text"),
    [
        ("kaf", "clusters: [{{name: a, brokers: [b:1], SASL: {{mechanism: PLAIN, username: u, password: '{}'}}}}]"),
        ("kafkactl", "contexts: {{a: {{brokers: [b:1], sasl: {{enabled: true, username: u, password: '{}'}}}}}}"),
        ("kcl", "seed_brokers = ['b:1']\n[sasl]\nmethod = 'plain'\nuser = 'u'\npass = '{}'"),
        ("rpk", "profiles: [{{name: a, kafka_api: {{brokers: [b:1], sasl: {{user: u, password: '{}'}}}}}}]"),
        ("kcat", "bootstrap.servers=b:1\nsasl.password={}"),
    ],
)
def test_a_text_of_another_tool_never_becomes_a_command(
    place: Path, capsys: pytest.CaptureFixture[str], kind: str, text: str
) -> None:
    file = place / kind
    for value in ("${command:touch ran}", "${env:HOME}", "${file:/etc/passwd}", "${x}"):
        file.write_text(text.format(value))
        for more in ([], ["--write", "--to", str(place / "new.toml")]):
            assert main(["config", "import", kind, str(file), *more]) == 2
            told = capsys.readouterr()
            assert "sasl.password contains ${…}, which a profile would look up or run" in told.err
            assert value not in told.out + told.err
    assert not (place / "new.toml").exists()
    file.write_text(text.format("plain$"))
    assert main(["config", "import", kind, str(file), "--write", "--to", str(place / "new.toml")]) == 0
    (place / "new.toml").unlink()
