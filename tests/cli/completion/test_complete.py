"""What `kcli __complete` offers, how long it may take, and what it never does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from kcli.admin.configs import KINDS
from kcli.cli.commands.completion import script
from kcli.cli.completion import cluster as complete_cluster
from kcli.cli.completion import command as complete
from kcli.cli.completion.line import split
from kcli.cli.completion.names import FIXED, VALUES
from kcli.cli.parsing.groups import ConnectionOptions
from kcli.cli.parsing.registry import SUBJECTS
from kcli.sandbox.thread import SandboxThread
from kcli.security import MECHANISMS
from tests.cli.conftest import Shell
from tests.sandbox.registry.asking import register

ROOT = Path(__file__).resolve().parents[3]
HOSTILE = [
    "or ders", "or$(touch pwned)", "or`touch pwned`", "or'x", 'or"x', "or;touch pwned", "or\ntouch pwned", "or\x1b[31m",
    "or\u202e", "or|x", "or&x", "or>x", "or*", "or?", "or[x]", "or{a,b}", "or~", "or!x", "or#x", "or\\x", "or%x",
    "or\t", "=ls", "or\x9b31m", "or^x", "(x)",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(topics={"orders": 1, "payments": 1}) as running:
        shell = Shell(running.bootstrap)
        for group in ("billing", *HOSTILE):
            shell.ok("consume", "orders", "-g", group, "-e", "-q", "--from-beginning")
        shell.ok("acls", "add", "--allow", "ann", "--operation", "read", "--topic", "t", "--execute", "--no-undo", "-q")
        running.call(lambda made: made.cluster.access.scram.set("carl", "SCRAM-SHA-256", b"salt", 4096, b"salted"))
        yield running


Ask = Callable[..., list[str]]


@pytest.fixture
def ask(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Ask:
    """The values offered for words; `directive` is the first line."""

    def asked(*words: str, slow: bool = False) -> list[str]:
        if not slow:
            monkeypatch.setattr(complete_cluster, "DEADLINE", 10.0)
        assert complete.run(["fish", "kcli", *words]) == 0
        lines = capfdbinary.readouterr().out.decode().split("\n")
        asked.directive = lines[0]  # type: ignore[attr-defined]
        return [line.partition("\t")[0] for line in lines[1:-1]]

    return asked


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["cons"], ["consume"]),
        (["topics", "des"], ["describe"]),
        (["topics", "-b", "h:1", "des"], ["describe"]),
        (["topics", "-b", "h:1", "describe", "--for"], ["--format"]),
        (["topics", "-q", "create", "x", "--if"], ["--if-not-exists"]),
        (["topic", "des"], ["describe"]),
        (["-b", "h:1", "cons"], ["consume"]),
        (["-b", "h:1", "topics", "des"], ["describe"]),
        (["-q", "-b", "h:1", "--prof"], ["--profile"]),
        (["-J", "topics", "create", "x", "--if"], ["--if-not-exists"]),
        (["--format", "js"], ["json"]),
        (["--bro"], ["--brokers", "--broker-map"]),
        (["help", "cons"], ["consume"]),
        (["topics", "list", "--sort", "und"], ["under_replicated", "under_min_isr"]),
        (["topics", "--columns", "topic,rep"], ["topic,replicas"]),
        (["lag", "--sort", "in_"], ["in_rate"]),
        (["brokers", "--columns=ra"], ["--columns=rack"]),
        (["consume", "--isol"], ["--isolation"]),
        (["consume", "--isolation", "read_c"], ["read_committed"]),
        (["consume", "--isolation=read_c"], ["--isolation=read_committed"]),
        (["produce", "t", "-zzs"], ["-zzstd"]),
        (["produce", "t", "-Z", "-z", "l"], ["lz4"]),
        (["consume", "t", "-X", "linger."], ["linger.ms="]),
        (["consume", "t", "-X", "acks=a"], ["acks=all"]),
        (["consume", "t", "-X", "security.protocol=SASL_S"], ["security.protocol=SASL_SSL"]),
        (["groups", "list", "--state", "Em"], ["Empty"]),
        (["groups", "list", "--type", "sh"], ["share"]),
        (["config", "import", "kafk"], ["kafkactl"]),
        (["completion", "z"], ["zsh"]),
        (["schema", "topics", "desc"], ["describe"]),
        (["schema", "reas"], ["reassign"]),
        (["schema", "reassign", "can"], ["cancel"]),
        (["raw", "Metadata", "--broker", "contr"], ["controller"]),
        (["sandbox", "--session"], ["--session-lifetime"]),
        (["sandbox", "--format", "j"], ["json"]),
        (["topics", "create", "or"], []),
        (["nonsense", ""], []),
        (["topics", "nonsense", ""], []),
        (["consume", "--nonsense", "--isolation", "read_c"], ["read_committed"]),
    ],
)
def test_what_is_ours_completes_without_a_cluster(words: list[str], offered: list[str], ask: Ask) -> None:
    os.environ["KCLI_BOOTSTRAP"] = "no-such-host.invalid:9092"
    try:
        assert ask(*words) == offered
    finally:
        del os.environ["KCLI_BOOTSTRAP"]


def test_a_plan_of_moves_is_a_file_or_topics(
    sandbox: SandboxThread, ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plans" / "old").mkdir(parents=True)
    for name in ("orders-plan.json", "other.txt", "plans/or.json", "odd name.json"):
        (tmp_path / name).write_text("{}")
    assert sorted(ask("reassign", "execute", "o")) == ["orders", "orders-plan.json"]
    assert sorted(ask("reassign", "cancel", "plans/")) == ["plans/old/", "plans/or.json"]
    assert ask("reassign", "cancel", "nowhere/") == []
    assert ask("raw", "Metadata", "--broker", "1") == ["1"]


def test_an_option_that_was_given_is_not_offered_again_but_a_repeatable_one_is(ask: Ask) -> None:
    offered = ask("consume", "t", "--isolation", "read_committed", "--grep", "x", "--")
    assert "--isolation" not in offered
    assert {"--grep", "--help"} <= set(offered)


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_command_completes_something(name: str, ask: Ask) -> None:
    assert ask(name[:-1] if len(name) > 3 else name).count(name) == 1
    assert "--help" in ask(name, "--")
    ask(name, "")


def test_files_are_left_to_the_shell(ask: Ask) -> None:
    for words in (
        ["produce", "t", ""],
        ["consume", "t", "-F", ""],
        ["registry", "export", ""],
        ["groups", "reset", "--create", "g", "--from-file", ""],
    ):
        assert ask(*words) == []
        assert ask.directive == "files"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["consume", "o"], ["orders"]),
        (["consume", "orders", "p"], ["payments"]),
        (["produce", "o"], ["orders"]),
        (["copy", "orders", "pay"], ["payments"]),
        (["lag", "bil"], ["billing"]),
        (["consume", "orders", "-g", "bil"], ["billing"]),
        (["consume", "orders", "-gbil"], ["-gbilling"]),
        (["groups", "reset", "--create", "billing", "--topic=pay"], ["--topic=payments"]),
        (["topics", "create", "x", "--config", "retention.m"], ["retention.ms="]),
        (["topics", "trim", "pay"], ["payments"]),
        (["cat", "-C", "-t", "pay"], ["payments"]),
        (["cat", "-G", "bil"], ["billing"]),
        (["configs", "get", "to"], ["topic"]),
        (["configs", "get", "topic", "pay"], ["payments"]),
        (["configs", "get", "topic", "payments", "retention.m"], ["retention.ms"]),
        (["configs", "set", "topic", "payments", "retention.m"], ["retention.ms="]),
        (["configs", "get", "group", "bil"], ["billing"]),
        (["configs", "get", "broker", ""], ["1"]),
        (["users", "describe", "ca"], ["carl"]),
        (["acls", "add", "--allow", "User:"], ["User:ann", "User:carl"]),
        (["acls", "add", "--operation", "idem"], ["idempotent-write"]),
        (["acls", "who-can", "wri"], ["write"]),
        (["acls", "who-can", "write", "clu"], ["cluster"]),
        (["acls", "who-can", "write", "topic", "pay"], ["payments"]),
        (["acls", "list", "--group", "bil"], ["billing"]),
        (["users", "delete", "carl", "--mechanism", "SCRAM-SHA-5"], ["SCRAM-SHA-512"]),
    ],
)
def test_names_complete_from_the_cluster(
    words: list[str], offered: list[str], ask: Ask, sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
    assert ask(*words) == offered


def test_servers_and_tunnels_complete_from_the_cluster(
    ask: Ask, sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
    assert ask("topics", "list", "-b", "127") == [sandbox.bootstrap]
    assert ask("topics", "list", "-b", "x:1,127") == [f"x:1,{sandbox.bootstrap}"]
    assert ask("consume", "t", "--broker-map", "127") == [f"{sandbox.bootstrap}="]
    assert ask.directive == "nospace"  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def registry() -> Iterator[str]:
    """The address of one that has subjects."""
    with SandboxThread(registry=True) as running:
        for subject in ("orders-value", "orders-key", "refunds-value", ":.staging:orders-value", "or(ders)"):
            assert register(running.registry_url, quote(subject, safe=""), '"long"')[0] == 200
        yield running.registry_url


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["registry", "describe", "ord"], ["orders-key", "orders-value"]),
        (["registry", "get", "ref"], ["refunds-value"]),
        (["sr", "versions", "ref"], ["refunds-value"]),
        (["registry", "diff", "refunds-value", "ref"], ["refunds-value"]),
        (["registry", "register", "orders-v"], ["orders-value"]),
        (["registry", "check", "orders-v"], ["orders-value"]),
        (["registry", "delete", "refunds-value", "orders-v"], ["orders-value"]),
        (["registry", "compat", "ref"], ["refunds-value"]),
        (["registry", "mode", "ref"], ["refunds-value"]),
        (["registry", "config", "ref"], ["refunds-value"]),
        (["registry", "copy", "ref"], ["refunds-value"]),
        (["registry", "export", "folder", "ref"], ["refunds-value"]),
        (["registry", "encode", "--value-schema", "ref"], ["refunds-value"]),
        (["registry", "decode", "--value-schema", "ref"], ["refunds-value"]),
        (["registry", "contexts", ".st"], [".staging"]),
        (["produce", "orders", "--value-schema", "ref"], ["refunds-value"]),
        (["consume", "orders", "--key-schema=orders-k"], ["--key-schema=orders-key"]),
        (["consume", "orders", "--value-schema", "t"], ["topic"]),
        (["consume", "orders", "--value-schema", "f"], ["file:"]),
    ],
)
def test_subjects_complete_from_the_registry(
    words: list[str], offered: list[str], ask: Ask, registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No broker is asked: there is none."""
    monkeypatch.setenv("KCLI_BOOTSTRAP", "no-such-host.invalid:9092")
    monkeypatch.setenv("KCLI_SCHEMA_REGISTRY_URL", registry)
    assert ask(*words) == offered


def test_the_registry_is_the_one_that_the_line_names(ask: Ask, registry: str, tmp_path: Path) -> None:
    assert ask("registry", "describe", "ref") == [], "no registry is set"
    assert ask("registry", "describe", "--schema-registry", registry, "ref") == ["refunds-value"]
    assert ask("registry", "describe", "-X", f"schema.registry.url={registry}", "ref") == ["refunds-value"]
    (tmp_path / "schemas" / "subjects" / "local-value").mkdir(parents=True)
    (tmp_path / "schemas" / "subjects" / "local-value" / "1.avsc").write_text('"long"')
    assert ask("registry", "describe", "--schema-registry", f"file:{tmp_path}/schemas", "lo") == ["local-value"]


def test_a_dead_registry_costs_one_wait(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(complete_cluster, "DEADLINE", 2.0)
    monkeypatch.setattr(complete_cluster, "CHILD", 15)
    took = []
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        monkeypatch.setenv("KCLI_SCHEMA_REGISTRY_URL", f"http://127.0.0.1:{deaf.getsockname()[1]}")
        for _ in range(3):
            begin = time.monotonic()
            assert ask("registry", "describe", "or", slow=True) == []
            took.append(time.monotonic() - begin)
    assert 2.0 <= took[0] < 10.0
    assert max(took[1:]) < 2.0


def test_the_registrys_secrets_are_neither_asked_nor_kept(
    ask: Ask, registry: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    words = [
        "registry",
        "describe",
        "--schema-registry",
        registry,
        "-X",
        f"bearer.auth.token.command=touch {ran}",
        "ref",
    ]
    assert ask(*words) == []
    assert not ran.exists()
    paths = [
        complete_cluster._path("subjects", ConnectionOptions(), (f"http://me:{password}@host:1", ""))
        for password in ("one", "two")
    ]
    assert paths[0] == paths[1]


def test_the_cluster_is_the_one_that_the_line_names(
    ask: Ask, sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KCLI_BOOTSTRAP", "no-such-host.invalid:9092")
    assert ask("consume", "-b", sandbox.bootstrap, "or") == ["orders"]
    config = tmp_path / "config" / "kcli" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[profiles.dev]\nbootstrap = "{sandbox.bootstrap}"\n[profiles."x$(y)"]\nbootstrap = "a:1"\n')
    assert ask("consume", "--profile", "d") == ["dev"]
    assert ask("config", "show", "") == ["dev"], "a profile that a shell would act on is not offered"
    assert ask("consume", "--profile", "dev", "or") == ["orders"]


def test_names_that_a_shell_would_act_on_are_not_offered(
    ask: Ask, sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
    assert ask("lag", "") == ["billing"]
    for kept in Path(complete_cluster.folder()).iterdir():
        kept.write_text("\n".join(["orders", *HOSTILE, "-x"]))
    offered = ask("lag", "")
    assert "orders" in offered, "it was the cache that was read"
    assert set(offered) == {"orders", "or"}, "and what stood before a line end in a name"


def test_a_cache_is_kept_for_half_a_minute_and_readable_by_nobody_else(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with SandboxThread(topics={"orders": 1}) as running:
        monkeypatch.setenv("KCLI_BOOTSTRAP", running.bootstrap)
        assert ask("consume", "or") == ["orders"]
    assert ask("consume", "or") == ["orders"], "the cluster is gone; its names are known for a while"
    (kept,) = Path(complete_cluster.folder()).iterdir()
    assert (kept.parent.stat().st_mode & 0o777, kept.stat().st_mode & 0o777) == (0o700, 0o600)
    old = time.time() - complete_cluster.FRESH - 1
    os.utime(kept, (old, old))
    assert ask("consume", "or") == ["orders"], "it does not answer: what is known is better than nothing"
    old = time.time() - complete_cluster.STALE - 1
    os.utime(kept, (old, old))
    assert ask("consume", "or") == []


def test_secrets_are_no_part_of_the_cache(ask: Ask, sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
    paths = []
    for password in ("one", "two"):
        monkeypatch.setenv("KCLI_SASL_PASSWORD", password)
        paths.append(complete_cluster._path("topics", ConnectionOptions(properties=[f"sasl.password={password}"])))
    assert paths[0] == paths[1]
    monkeypatch.setenv("KCLI_SASL_USERNAME", "me")
    assert complete_cluster._path("topics", ConnectionOptions()) != paths[0]


def test_commands_and_keyrings_are_not_asked_at_a_TAB(
    ask: Ask, sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = tmp_path / "ran"
    config = tmp_path / "config" / "kcli" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(
        f'[profiles.dev]\nbootstrap = "{sandbox.bootstrap}"\nsecurity.protocol = "SASL_PLAINTEXT"\n'
        f'sasl.mechanism = "PLAIN"\nsasl.username = "me"\nsasl.password = {{ command = ["touch", "{run}"] }}\n'
    )
    assert ask("consume", "--profile", "dev", "or") == []
    assert not run.exists()
    assert ask("consume", "-b", sandbox.bootstrap, "-X", f"sasl.password=${{command:touch {run}}}", "or") == []
    assert not run.exists()


def _timed(bootstrap: str, cache: Path, *words: str) -> float:
    """Seconds of a whole `kcli __complete`, the interpreter's start included."""
    variables = {
        **os.environ, "KCLI_BOOTSTRAP": bootstrap, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "kcli", "__complete", "zsh", "kcli", *words], env=variables, capture_output=True,
        timeout=20,
    )  # fmt: skip
    took = time.monotonic() - begin
    assert (done.returncode, done.stderr) == (0, b"")
    return took


def test_a_dead_cluster_costs_one_wait_of_a_quarter_second_and_the_next_TABs_none(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert complete_cluster.DEADLINE == 0.25
    monkeypatch.setattr(complete_cluster, "DEADLINE", 2.0)  # so that a busy machine is not taken for a wait
    monkeypatch.setattr(complete_cluster, "CHILD", 15)
    took = []
    with socket.create_server(("127.0.0.1", 0)) as deaf:  # accepts in the kernel, and never says a word
        monkeypatch.setenv("KCLI_BOOTSTRAP", f"127.0.0.1:{deaf.getsockname()[1]}")
        for _ in range(3):
            begin = time.monotonic()
            assert ask("consume", "or", slow=True) == []
            took.append(time.monotonic() - begin)
    assert 2.0 <= took[0] < 10.0
    assert max(took[1:]) < 2.0


@pytest.mark.process
def test_the_shell_does_not_wait_for_what_is_still_being_asked(tmp_path: Path) -> None:
    """The child that goes on has let go of stdout: `$(kcli __complete …)` ends with kcli."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        took = min(_timed(f"127.0.0.1:{deaf.getsockname()[1]}", tmp_path / f"{n}", "lag", "") for n in range(2))
    assert took < complete_cluster.CHILD / 2


def test_a_cluster_that_is_too_slow_for_one_TAB_has_told_at_the_next(
    ask: Ask, sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
    monkeypatch.setattr(complete_cluster, "DEADLINE", 0.0)
    assert ask("consume", "or", slow=True) == []
    until = time.monotonic() + 10
    while not ask("consume", "or", slow=True):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_folder_that_cannot_be_written_is_no_cache_and_no_failure(
    ask: Ask, sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
    assert ask("consume", "or") == ["orders"]


def test_a_broken_configuration_is_no_failure(ask: Ask, tmp_path: Path) -> None:
    config = tmp_path / "config" / "kcli" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[[[")
    assert ask("consume", "--profile", "") == []
    assert ask("consume", "or") == []


@pytest.mark.process
def test_nothing_heavy_is_imported() -> None:
    code = "import sys; from kcli.cli.main import main; main(sys.argv[1:]); print(sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code, "__complete", "zsh", "kcli", "consume", "--iso"], cwd=ROOT, capture_output=True,
        text=True, timeout=20, check=True,
    )  # fmt: skip
    for name in ("typer", "asyncio", "json", "rich", "ssl", "kcli.client"):
        assert f"'{name}'" not in done.stdout


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("kcli consume or", ["kcli", "consume", "or"]),
        ("kcli consume ", ["kcli", "consume", ""]),
        ("kcli  a\\ b 'c d' \"e\\\"f", ["kcli", "a b", "c d", 'e"f']),
        ("kcli -X a=b:c", ["kcli", "-X", "a=b:c"]),
        ("kcli $(touch pwned)", ["kcli", "$(touch", "pwned)"]),
        ("", [""]),
    ],
)
def test_bash_lines_split_into_words_and_nothing_is_expanded(line: str, words: list[str]) -> None:
    assert split(line) == words


@pytest.mark.parametrize(
    ("line", "own", "told"),
    [
        ("kcli consume --isolation=read_c", "read_c", "read_committed"),
        ("kcli consume --isolation=", "=", "read_committed"),
        ("kcli consume -X security.protocol=SASL_P", "SASL_P", "SASL_PLAINTEXT"),
    ],
)
def test_bash_gets_what_stands_behind_its_own_word_breaks(
    line: str, own: str, told: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert complete.run(["bash", line, own]) == 0
    assert told in capfdbinary.readouterr().out.decode().split("\n")


@pytest.mark.parametrize(("shell", "file"), [("bash", "kcli.bash"), ("zsh", "_kcli"), ("fish", "kcli.fish")])
def test_the_files_are_what_kcli_prints(shell: str, file: str) -> None:
    assert (ROOT / "completions" / file).read_text() == script(shell)


def test_no_script_evaluates() -> None:
    for shell in ("bash", "zsh", "fish"):
        lines = [line.partition("#")[0] for line in script(shell).splitlines()]
        assert not [line for line in lines if "eval" in line.split()]


def test_words_are_those_that_there_are() -> None:
    assert VALUES["sasl.mechanism"] == MECHANISMS
    assert set(FIXED["kinds"]) == set(KINDS)
    assert set(FIXED["codecs"]) == {"none", "gzip", "snappy", "lz4", "zstd"}


def test_of_many_names_their_beginnings_are_offered() -> None:
    names = [f"prod-{team}.topic-{n}" for team in ("billing", "shop") for n in range(1000)]
    names += [f"dev{n}" for n in range(300)]
    assert complete.beginnings(names[:2000], 0) == {"prod-": "2000 names"}
    assert complete.beginnings(names[:2000], 5) == {"prod-billing.": "1000 names", "prod-shop.": "1000 names"}
    by_character = complete.beginnings(names[2000:], 3)  # no part ends in them
    assert by_character["dev1"] == "111 names"
    assert len(by_character) == 10
    assert complete.beginnings(["list", *names], 0) == {"list": "", "p": "2000 names", "d": "300 names"}
    assert len(complete.beginnings([f"{chr(0x4E00 + n)}" for n in range(300)], 0)) == complete.MOST


def test_a_tab_offers_no_more_than_fit_a_screen(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    topics = [f"team-{n % 20}.events-{n}" for n in range(2019)]
    monkeypatch.setattr("kcli.cli.completion.cluster.names_of", lambda *words: topics)
    assert complete.run(["zsh", "kcli", "topics", "describe", ""]) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert lines == ["nospace", "team-\t2019 names"]
    assert complete.run(["zsh", "kcli", "topics", "describe", "team-1"]) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert lines[0] == "nospace"
    assert "team-1.\t101 names" in lines
    assert "team-19.\t100 names" in lines
