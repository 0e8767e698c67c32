"""`kcli sandbox --tls --users`, and the commands that meet it (B19, B20)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.programs import KCLI, kcli


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("secured")
    (made / "users").write_text("# who may come in\nalice:correct: horse\n")
    return made


@pytest.fixture(scope="module")
def bootstrap(folder: Path) -> Iterator[str]:
    """A sandbox process with TLS and SASL, whose sessions end."""
    process = subprocess.Popen(
        [*KCLI, "sandbox", "--port", "0", "--format", "json", "--tls", str(folder / "tls"), "--users",
         str(folder / "users"), "--session-lifetime", "2"],
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["bootstrap"]
    finally:
        process.terminate()
        process.stdout.close()
        assert process.wait(10) == 143


def properties(folder: Path, password: str) -> str:
    path = folder / "client.properties"
    path.write_text(
        f"security.protocol=SASL_SSL\nssl.ca.location={folder}/tls/ca.pem\nsasl.mechanism=SCRAM-SHA-512\n"
        f"sasl.username=alice\nsasl.password={password}\n"
    )
    path.chmod(0o600)
    return str(path)


@pytest.mark.process
def test_records_go_in_and_come_out(bootstrap: str, folder: Path) -> None:
    at = ("-b", bootstrap, "-F", properties(folder, "correct: horse"))
    assert kcli("topics", "create", "t", *at).code == 0
    assert kcli("produce", "t", *at, stdin=b"one\ntwo\n").code == 0
    read = kcli("consume", "t", *at, "-o", "beginning", "-e")
    assert (read.code, read.out, read.err) == (0, b"one\ntwo\n", "")


@pytest.mark.process
def test_B20_what_is_not_checked_is_said(bootstrap: str, folder: Path) -> None:
    at = ("-b", bootstrap, "-F", properties(folder, "correct: horse"))
    for setting, words in (
        ("ssl.endpoint.identification.algorithm=", "the name in the brokers' certificates is not checked"),
        ("enable.ssl.certificate.verification=false", "the brokers' certificates are not checked"),
    ):
        shown = kcli("topics", "list", *at, "-X", setting)
        assert shown.code == 0
        assert words in shown.err


@pytest.mark.process
def test_B19_every_refusal_is_a_sentence_and_exit_code_5(bootstrap: str, folder: Path) -> None:
    wrong = ("-F", properties(folder, "canary"))
    for more, words in (
        (wrong, "refused the authentication of alice (SCRAM-SHA-512)"),
        (("-X", "security.protocol=SSL"), "name its authority with ssl.ca.location"),
        (("-X", "security.protocol=SSL", "-X", f"ssl.ca.location={folder}/tls/ca.pem"), "may require authentication"),
        ((), "it may expect TLS or SASL"),
    ):
        shown = kcli("topics", "list", "-b", bootstrap, *more)
        assert shown.code == 5, shown
        assert words in shown.err
        assert "canary" not in shown.err


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--client-ca", "ca.pem"), "--client-ca requires --tls"),
        (("--session-lifetime", "5"), "--session-lifetime requires --users"),
        (("--users", "/nowhere"), "--users /nowhere: No such file"),
    ],
)
def test_options_of_a_secured_sandbox_that_make_no_sense(words: tuple[str, ...], said: str) -> None:
    shown = kcli("sandbox", "--port", "0", *words)
    assert shown.code == 2
    assert said in shown.err
