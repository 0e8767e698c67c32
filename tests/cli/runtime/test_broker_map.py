"""--broker-map: through a tunnel every broker is reached elsewhere, and TLS still expects its own name."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcli.sandbox.access.tls import make_certificates
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell


@pytest.fixture(autouse=True)
def nothing_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("KCLI_PROFILE", "KCLI_CONFIG", "KCLI_BROKER_MAP"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("place", ["option", "environment", "profile", "host"])
def test_C2_brokers_behind_a_tunnel(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bootstrap address and the advertised one are names that nobody resolves."""
    with SandboxThread(topics={"t": 1}, advertised="kafka.invalid") as sandbox:
        port = sandbox.bootstrap.rpartition(":")[2]
        name, rule = f"kafka.invalid:{port}", f"kafka.invalid:{port}=127.0.0.1:{port}"
        words = ["-b", name]
        if place == "option":
            words += ["--broker-map", "other:1=x:1", "--broker-map", rule]
        elif place == "host":
            words += ["--broker-map", "kafka.invalid=127.0.0.1"]
        elif place == "environment":
            monkeypatch.setenv("KCLI_BROKER_MAP", f"other:1=x:1, {rule}")
        else:
            (tmp_path / "kcli").mkdir()
            (tmp_path / "kcli" / "config.toml").write_text(
                f'[profiles.far]\nbroker_map = {{ "{name}" = "127.0.0.1:{port}" }}\n'
            )
            words += ["--profile", "far"]
        kcli = Shell(name)
        assert kcli("produce", "t", *words, stdin=b"over the tunnel\n").returncode == 0
        assert kcli.ok("consume", "t", "-e", *words) == b"over the tunnel\n"


def test_B20_C2_the_certificate_is_for_the_name_and_not_for_the_tunnel(tmp_path: Path) -> None:
    tls = make_certificates(tmp_path, ("kafka.invalid",))
    with SandboxThread(topics={"t": 1}, advertised="kafka.invalid", tls=tls) as sandbox:
        port = sandbox.bootstrap.rpartition(":")[2]
        name = f"kafka.invalid:{port}"
        words = ["-X", "security.protocol=SSL", "-X", f"ssl.ca.location={tmp_path}/ca.pem"]
        mapped = Shell(name)("topics", "list", "--format", "plain", "--broker-map", f"{name}=localhost:{port}", *words)
        other = f"other.invalid:{port}"
        wrong = Shell(other)("topics", "list", "--broker-map", f"{other}=localhost:{port}", *words)
    assert (mapped.returncode, mapped.stderr) == (0, b"")
    assert mapped.stdout.startswith(b"t\t")
    assert wrong.returncode == 5
    assert b"the broker's certificate is not for other.invalid" in wrong.stderr


def test_a_broker_that_is_not_reached_is_named_with_both_its_addresses() -> None:
    done = Shell("kafka-1:9092")("topics", "list", "-b", "kafka-1:9092", "--broker-map", "kafka-1:9092=127.0.0.1:1")
    assert done.returncode == 5
    assert b"kafka-1:9092 via 127.0.0.1:1: connection refused" in done.stderr
