"""Where no cluster is named: what other tools know is offered, and what is offered works."""

from __future__ import annotations

import shlex
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from kcli.cli.commands import tui
from kcli.cli.commands.config.importing import first_contact
from kcli.cli.commands.config.importing.foreign import FoundCluster
from kcli.cli.commands.tui import TuiOptions
from kcli.cli.main import main
from kcli.cli.parsing.groups import ConnectionOptions
from kcli.cli.runtime.connection import Connection
from kcli.errors import UsageError
from kcli.tui.chooser import Chooser
from tests.ports import free_ports

KAF = """
current-cluster: shop
clusters:
- name: shop
  brokers: [one:9092, two:9092]
  SASL: {mechanism: PLAIN, username: me, password: secret}
  security-protocol: SASL_PLAINTEXT
"""


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a working directory with nothing in them, and nothing that listens."""
    (port,) = free_ports(1)
    monkeypatch.setattr(first_contact, "DEFAULT", f"localhost:{port}")
    for variable in ("KCLI_BOOTSTRAP", "KCLI_PROFILE", "KCLI_CONFIG", "KCAT_CONFIG", "KAFKACAT_CONFIG"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@pytest.fixture
def full(empty: Path) -> Path:
    """With a file of kaf, and properties in the working directory."""
    (empty / ".kaf").mkdir()
    (empty / ".kaf/config").write_text(KAF)
    Path("client.properties").write_text("bootstrap.servers=three:9092\nclient.id=x\n")
    Path("log4j.properties").write_text("rootLogger.level=info\n")
    return empty


def test_nothing_is_found_but_a_sandbox(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert capsys.readouterr().out.endswith("To look around:\n  a sandbox on this machine: kcli demo\n")


def test_what_is_listed_becomes_a_profile_by_the_line_below_it(full: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    _, _, listed = capsys.readouterr().out.partition("kcli found:\n")
    assert "shop: one:9092,two:9092" in listed
    assert "client: three:9092" in listed
    assert "log4j" not in listed
    assert "secret" not in listed
    lines = [shlex.split(line) for line in listed.splitlines() if line.startswith("      kcli")]
    assert len(lines) == 2
    for line in lines:
        assert main(line[1:]) == 0
    capsys.readouterr()
    main([])
    listed = capsys.readouterr().out
    assert "--profile shop" in listed
    assert "--profile client" in listed


def test_a_named_cluster_or_one_that_listens_is_enough(
    full: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("localhost", 0)) as server:
        with monkeypatch.context() as here:
            here.setattr(first_contact, "DEFAULT", f"localhost:{server.getsockname()[1]}")
            main([])
            assert "kcli found" not in capsys.readouterr().out
        monkeypatch.setenv("KCLI_BOOTSTRAP", "four:9092")
        main([])
        assert "kcli found" not in capsys.readouterr().out


def test_a_file_that_cannot_be_read_is_named_with_the_reason(full: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (full / ".kaf/config").write_text("clusters: [{brokers: [a:1]}, 7]\n\x1b[31m")
    main([])
    listed = capsys.readouterr().out
    assert ".kaf/config" in listed
    assert "client: three:9092" in listed
    assert "\x1b[31m" not in listed


def test_a_found_cluster_is_used_with_its_login_or_kept(full: Path) -> None:
    by_name = {offer.name: offer.found for offer in first_contact.offers()}
    shop, client = by_name["shop"], by_name["client"]
    assert shop is not None
    assert client is not None
    options = ConnectionOptions()
    first_contact.use(options, shop)
    settings = Connection(options).client()
    assert [address.host for address in settings.bootstrap] == ["one", "two"]
    assert settings.security is not None
    assert settings.security.sasl is not None
    assert settings.security.sasl.username == "me"
    options = ConnectionOptions()
    first_contact.use(options, client)
    assert [address.host for address in Connection(options).client().bootstrap] == ["three"]
    assert not (full / "config").exists(), "this time only"
    options = ConnectionOptions()
    first_contact.keep(options, shop)
    assert options.profile == "shop"
    assert [address.host for address in Connection(ConnectionOptions()).client().bootstrap] == ["one", "two"]


def test_a_text_that_kcli_would_look_up_or_run_is_refused(full: Path) -> None:
    (full / ".kaf/config").write_text(KAF.replace("secret", "'${cmd:id}'"))
    (shop,) = [offer.found for offer in first_contact.offers() if offer.name == "shop"]
    assert shop is not None
    with pytest.raises(Exception, match="contains"):
        first_contact.use(ConnectionOptions(), shop)


@pytest.mark.parametrize(("name", "keep"), [("shop", False), ("shop", True), ("client", False)])
def test_the_dashboard_opens_what_was_chosen(
    full: Path, monkeypatch: pytest.MonkeyPatch, name: str, keep: bool
) -> None:
    at = [offer.name for offer in first_contact.offers()].index(name)
    monkeypatch.setattr(Chooser, "run", lambda self: (at, keep))
    options = TuiOptions()
    assert tui._first_contact(options) is None
    connection = Connection(options)
    assert connection.client().bootstrap[0].host == {"shop": "one", "client": "three"}[name]
    assert (connection.profile is not None) == keep
    assert "secret" not in tui.aim(options, connection)


def test_who_leaves_the_list_opens_nothing(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Chooser, "run", lambda self: None)
    assert tui._first_contact(TuiOptions()) == 0


@pytest.mark.parametrize(
    "line",
    [
        "sasl.oauthbearer.token.command=touch ran",
        "sasl.password=${command:touch ran}",
        "sasl.password=${env:HOME}",
        "sasl.password=${file:/etc/hostname}",
    ],
)
@pytest.mark.parametrize("take", [first_contact.use, first_contact.keep])
def test_a_file_of_the_working_directory_runs_nothing_and_takes_nothing(
    full: Path, line: str, take: Callable[[ConnectionOptions, FoundCluster], None]
) -> None:
    Path("client.properties").write_text(f"bootstrap.servers=three:9092\n{line}\n")
    (found,) = [offer.found for offer in first_contact.offers() if offer.name == "client"]
    assert found is not None
    options = ConnectionOptions()
    with pytest.raises(UsageError, match=r"if you trust the file, use -F client\.properties"):
        take(options, found)
    assert options == ConnectionOptions(), "nothing half done"
    assert not Path("ran").exists()
    assert not (full / "config").exists()
