"""`kcli sandbox` itself: where it listens, what it refuses to begin with."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path

import pytest

from kcli.cli.commands.sandbox import _own_name
from kcli.cli.main import main
from tests.programs import KCLI, kcli


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--host", "0.0.0.0"], 2, "--host 0.0.0.0 can be reached by other machines"),
        (["--host", ""], 2, "--host is empty; write --host HOST"),
        (["--port", "65535", "--brokers", "2"], 2, "--port 65535 --brokers 2: there is no port 65536"),
        (["--port", "0", "--data", "{file}"], 1, "{file}: File exists"),
        (["--registry-port", "8081"], 2, "--registry-port requires --registry"),
        (["--port", "0", "--partitions", "0"], 2, "sandbox: --partitions 0: must be 1 or more"),
        (["--port", "0", "--topic", "a:0"], 2, "--topic a:0: expected NAME or NAME:PARTITIONS"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    words: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    file = str(tmp_path / "file")
    assert main(["sandbox", *(word.format(file=file) for word in words)]) == code
    assert capsys.readouterr().err.startswith(f"kcli: {said.format(file=file)}")


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["--port", "{port}"], "--port"),
        (["--port", "{port}", "--registry", "--registry-port", "0"], "--port"),
        (["--port", "0", "--registry", "--registry-port", "{port}"], "--registry-port"),
    ],
)
def test_a_port_that_is_taken_is_the_one_that_is_named(
    words: list[str], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["sandbox", *(word.format(port=port) for word in words)]) == 1
    said = capsys.readouterr().err
    assert said == f"kcli: cannot listen: Address already in use (127.0.0.1:{port}); {option} 0 uses a free port\n"


@pytest.mark.process
def test_allow_remote_listens_where_others_can_reach_it_and_says_so() -> None:
    process = subprocess.Popen(
        [*KCLI, "sandbox", "--port", "0", "--host", "0.0.0.0", "--allow-remote", "--format", "json", "--topic", "t"],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        host, _, port = json.loads(process.stdout.readline())["bootstrap"].rpartition(":")
        assert host == _own_name()
        named = kcli("raw", "Metadata", "-b", f"127.0.0.1:{port}")
        assert named.code == 0, named.err
        assert json.loads(named.out)["brokers"][0]["host"] == host
    finally:
        process.terminate()
        process.stdout.close()
        assert process.wait(10) == 143


def test_a_machine_is_named_by_its_address_where_its_name_does_not_resolve(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str, port: None) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", unknown)
        host = _own_name()
    assert host != socket.gethostname()
    with socket.create_server(("0.0.0.0", 0)) as listening:
        socket.create_connection((host, listening.getsockname()[1]), timeout=10).close()


@pytest.mark.process
def test_topics_have_as_many_partitions_as_was_said() -> None:
    words = ["--port", "0", "--format", "json", "--partitions", "3", "--topic", "t", "--topic", "u:2"]
    process = subprocess.Popen([*KCLI, "sandbox", *words], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        where = json.loads(process.stdout.readline())["bootstrap"]
        kcli("raw", "Metadata", '{"topics":[{"name":"new"}],"allowAutoTopicCreation":true}', "-b", where)
        found = kcli("raw", "Metadata", '{"topics":null}', "-b", where)
        rows = json.loads(found.out)["topics"]
        assert {row["name"]: len(row["partitions"]) for row in rows} == {"t": 3, "u": 2, "new": 3}
    finally:
        process.terminate()
        process.stdout.close()
        assert process.wait(10) == 143


@pytest.mark.process
def test_a_newcomer_registers_a_schema_writes_json_and_filters_by_a_field(tmp_path: Path) -> None:
    (tmp_path / "order.avsc").write_text(
        '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"total","type":"double"}]}'
    )
    words = [*KCLI, "sandbox", "--port", "0", "--registry", "--topic", "orders"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        told = process.stdout.readline()
        exports = dict(process.stderr.readline().split()[1].split("=", 1) for _ in range(2))
        assert told == (
            f"kcli sandbox listens on {exports['KCLI_BOOTSTRAP']}, its schema registry on "
            f"{exports['KCLI_SCHEMA_REGISTRY_URL']} (in memory). Ctrl-C stops it.\n"
        )

        def run(*words: str, stdin: str = "") -> str:
            done = kcli(*words, stdin=stdin.encode(), env=exports)
            assert (done.code, done.err) == (0, ""), done
            return done.out.decode()

        given = '{"id": 1, "total": 9.5}\n{"total": 3, "id": 2}\n'
        run("produce", "orders", "--value-schema", f"file:{tmp_path}/order.avsc", "--register", stdin=given)
        run("produce", "orders", "--value-schema", "topic", stdin='{"id": 3, "total": 10}')
        assert (
            run("consume", "orders", "-e", "--where", "value.total > 5")
            == '{"id":1,"total":9.5}\n{"id":3,"total":10.0}\n'
        )
        run("faults", "fail_registry", "status=503", "path=/schemas/ids", "times=99")
        failing = kcli("consume", "orders", "-e", env=exports)
        assert failing.code == 0
        assert "3 values" in failing.err
    finally:
        process.terminate()
        process.communicate(timeout=20)
