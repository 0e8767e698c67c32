"""Every option, property, variable and word that names a file to read: a device is refused, a large file too."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kcli
from kcli.cli.parsing.registry import every
from kcli.config.secrets.secured import FILES
from kcli.property_names import KERBEROS, OAUTH, TLS
from kcli.sandbox.thread import SandboxThread

RUNNER = """
import json, os, resource, signal, sys
from kcli.cli.main import main
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
out = os.dup(1)
for variables, words in json.load(sys.stdin):
    signal.alarm(30)
    into, told = os.pipe()
    os.dup2(told, 1), os.dup2(told, 2), os.close(told)
    os.environ.update(variables)
    code = main(words)
    for name in variables:
        del os.environ[name]
    sys.stdout.flush(), sys.stderr.flush()
    os.dup2(out, 1), os.dup2(out, 2)
    os.write(out, json.dumps([code, os.read(into, 65536).decode()]).encode() + b"\\n")
    os.close(into)
"""
SSL = "topics list -b {kafka} -X security.protocol=SSL -X"
OIDC = "-X sasl.oauthbearer.client.id=a -X sasl.oauthbearer.client.secret=b"
TOKEN = "topics list -b {kafka} -X security.protocol=SASL_PLAINTEXT -X sasl.mechanism=OAUTHBEARER"
REGISTRY = "--schema-registry https://127.0.0.1:1"
LINES = f"""
topics list -F {{}}
cat -F {{}} -L
cat -P -b {{kafka}} -t t {{}}
produce t -b {{kafka}} {{}}
produce t -b {{kafka}} --value-schema file:{{}}
produce t -b {{kafka}} --key-schema file:{{}}
consume t -b {{kafka}} --value-schema file:{{}}
consume t -b {{kafka}} --value-schema file:{{}}.desc
registry register s {{}} {REGISTRY}
registry check s {{}} {REGISTRY}
registry diff s file:{{}} {REGISTRY}
registry decode {{}} --value-schema file:{{avro}}
registry decode {{avro}} --value-schema file:{{}}
registry encode {{}} --value-schema file:{{avro}}
registry import {{}}.json {REGISTRY}
apply {{}} -b {{kafka}}
diff {{}} -b {{kafka}}
undo {{}} -b {{kafka}}
reassign execute {{}} -b {{kafka}}
reassign execute --reassignment-json-file {{}} -b {{kafka}}
reassign verify {{}} -b {{kafka}}
reassign cancel {{}} -b {{kafka}}
acls add --from-file {{}} -b {{kafka}}
groups reset g --from-file {{}} -b {{kafka}}
users set u --password-file {{}} -b {{kafka}} --execute
lag --replay {{}}
sandbox --users {{}}
sandbox --tls {{folder}}/tls --client-ca {{}}
pipeline sql --file {{}} -b {{kafka}}
pipeline run {{}}
config import kaf {{}}
config import kcat {{}}
config import kafkactl {{}}
config import kcl {{}}
config import rpk {{}}
config import properties {{}}
config add x -F {{}} --no-check
raw Metadata @{{}} -b {{kafka}}
demo --file {{}}
{SSL} ssl.ca.location={{}}
{SSL} ssl.truststore.location={{}}
{SSL} ssl.certificate.location={{}}
{SSL} ssl.certificate.location={{avro}} -X ssl.key.location={{}}
{SSL} ssl.keystore.location={{}}
{SSL} ssl.key.password=${{{{file:{{}}}}}}
{TOKEN} -X allow.insecure.auth=true -X sasl.oauthbearer.token.file={{}}
{TOKEN} -X sasl.oauthbearer.token.endpoint.url=https://127.0.0.1:1 {OIDC} -X https.ca.location={{}}
registry list {REGISTRY} -X schema.registry.ssl.ca.location={{}}
registry list {REGISTRY} -X bearer.auth.token.file={{}}
KCAT_CONFIG={{}} cat -L
KCLI_KEYS={{}} tui --keys
KCLI_CONFIG={{}} topics list
KCLI_SSL_CA_LOCATION={{}} topics list -b {{kafka}} -X security.protocol=SSL
"""
WRITTEN = {
    "--undo-file", "--trace-file", "--report", "--html", "--metrics", "--save", "--to", "--from", "--hmac-file",
    "--stop-file",
}  # fmt: skip
"""Options that name files to write, files whose existence matters, and profile files (tested by KCLI_CONFIG)."""
LIBRARIES = {"keytab"}
"""Files that another library reads."""
FOLDERS = {"pipeline export", "pipeline import", "pipeline finalize", "pipeline clean", "registry export"}
STREAMED = ("produce", "demo", "sandbox --tls")
"""Records, in which each is limited, and the system's own limit of a certificate."""


def lines(path: str, kafka: str, folder: Path) -> list[tuple[dict[str, str], list[str]]]:
    """The variables and the words of each line."""
    avro = folder / "avro.avsc"
    avro.write_text('"bytes"')
    found = []
    for line in LINES.strip().splitlines():
        words = line.format(path, kafka=kafka, folder=folder, avro=avro).split()
        variables = dict([words[0].split("=", 1)]) if "=" in words[0] else {}
        found.append((variables, words[len(variables) :]))
    return found


def told(given: list[tuple[dict[str, str], list[str]]]) -> list[tuple[int, str]]:
    """The exit code and the output of each line, run in a process whose memory is limited."""
    done = subprocess.run(
        [sys.executable, "-c", RUNNER], input=json.dumps(given), capture_output=True, text=True, timeout=240, check=True
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(given), (given[len(found)], done.stderr)
    return [(code, text) for code, text in found]


@pytest.mark.process
def test_a_device_is_refused_wherever_a_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rule each line reads for ever."""
    monkeypatch.setenv("KCLI_CONFIG", "")
    zero = tmp_path / "zero"
    for name in ("zero", "zero.json", "zero.desc"):
        (tmp_path / name).symlink_to("/dev/zero")
    with SandboxThread(topics={"t": 1}) as running:
        given = lines(str(zero), running.bootstrap, tmp_path)
        for (variables, words), (code, text) in zip(given, told(given), strict=True):
            assert code, words
            known = "it is a device" in text or ("demo" in words and "file not found" in text)
            assert known or ("KCLI_CONFIG" in variables and "file not found" in text), (words, text)


@pytest.mark.process
def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCLI_CONFIG", "")
    for name in ("large", "large.json", "large.desc"):
        with (tmp_path / name).open("wb") as file:
            os.truncate(file.fileno(), 300 << 20)
        (tmp_path / name).chmod(0o600)
    with SandboxThread(topics={"t": 1}) as running:
        every_line = lines(str(tmp_path / "large"), running.bootstrap, tmp_path)
        given = [one for one in every_line if not " ".join(one[1]).startswith(STREAMED) or "--value-schema" in one[1]]
        for (_, words), (code, text) in zip(given, told(given), strict=True):
            assert code, words
            assert "is larger than" in text, (words, text)


def test_every_option_and_word_that_names_a_file_has_a_line() -> None:
    words = [line.split() for line in LINES.strip().splitlines()]
    named = {word for line in words for word in line}
    for path, command in every():
        for option in command.options:
            if option.metavar == "FILE" and not WRITTEN & {*option.flags}:
                assert named & {*option.flags}, f"{path} {option.flags}: add a line, or say why it is not read"
        if {"FILE", "PATH", "FOLDER", "DIR"} & {*command.words.replace("|", " ").strip("[].").split()}:
            begin = path.split()
            assert path in FOLDERS or any(line[: len(begin)] == begin for line in words), path


def test_every_property_that_names_a_file_has_a_line() -> None:
    for name, field in {**TLS, **OAUTH, **KERBEROS}.items():
        if field in FILES and field not in LIBRARIES:
            assert f"{name}=" in LINES, name


ELSEWHERE = {
    "cli/parsing/help/reference.py": "the docs, when they are made",
    "cli/parsing/make_tables.py": "kcli's own sources",
    "cli/commands/demo/command.py": "what the demo wrote itself",
    "lag/formats/page.py": "the template that is installed",
    "pipeline/jobs/files/csv.py": "the beginning of what Spark reads",
    "sandbox/log/recovery.py": "segments, which are mapped",
    "system/files.py": "the reader",
    "system/processes.py": "/proc",
}
"""Modules that open a file to read it by themselves, and which one that is."""


READERS = re.compile(r"\b(?:open|read_text|read_bytes|load_verify_locations)\(")


def reads(call: ast.Call) -> bool:
    """Whether a call opens a file to read it, or reads one whole."""
    function = call.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    if name in ("read_text", "read_bytes"):
        return isinstance(function, ast.Attribute) and not (
            isinstance(function.value, ast.Name) and function.value.id == "files"
        )
    if name == "load_verify_locations":
        return any(one.arg != "cadata" for one in call.keywords) or bool(call.args)
    if name != "open" or (
        isinstance(function, ast.Attribute) and not isinstance(function.value, ast.Name | ast.Attribute)
    ):
        return False
    if call.args and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, int):
        return False  # it is open already
    texts = [
        one.value for one in [*call.args, *(word.value for word in call.keywords)] if isinstance(one, ast.Constant)
    ]
    modes = [text for text in texts if isinstance(text, str) and text and not set(text) - set("rwxab+")]
    if isinstance(function, ast.Name):
        return "r" in modes[0] if modes else len(call.args) == 1
    return any("r" in mode for mode in modes)


def test_no_other_module_opens_a_file_to_read_it() -> None:
    root = Path(kcli.__file__).parent
    found = {}
    for path in sorted(root.rglob("*.py")):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if READERS.search(text) else ():
            if isinstance(node, ast.Call) and reads(node):
                found[path.relative_to(root).as_posix()] = node.lineno
    assert found.keys() - ELSEWHERE.keys() == {"security/tls.py"}, "use kcli.system.files"  # a folder of authorities
    assert ELSEWHERE.keys() - found.keys() == set()
