"""Nothing that a cluster says acts on a terminal: every string of every answer is hostile, every command runs in a
terminal, in every format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kcli.cli.parsing.groups import FORMATS
from kcli.cli.parsing.registry import SUBJECTS, declared
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell
from tests.cli.leaps import leaping
from tests.cli.poison import EVIL, Poison, leaks, on_a_terminal, poisoned
from tests.each import each

LATER = ("-X", "default.api.timeout.ms=5000", "-X", "request.timeout.ms=3000", "-X", "retry.backoff.ms=20")
"""Where a busy machine answered nothing in so short a time."""
SOON = ("-X", "default.api.timeout.ms=300", "-X", "request.timeout.ms=200", "-X", "retry.backoff.ms=20")
T, G = f"orders{EVIL}", f"billing{EVIL}"
TABLES = {
    "topics list": ["topics", "list"],
    "topics describe": ["topics", "describe", T],
    "topics describe, missing": ["topics", "describe", f"ordders{EVIL}"],
    "topics create": ["topics", "create", f"new{EVIL}", "--dry-run"],
    "topics delete": ["topics", "delete", T, "--dry-run"],
    "groups list": ["groups", "list"],
    "groups describe": ["groups", "describe", G],
    "groups describe, missing": ["groups", "describe", f"biling{EVIL}"],
    "groups members": ["groups", "members", G],
    "groups reset": ["groups", "reset", "--create", G, "-t", T, "--to-earliest", "--dry-run"],
    "groups clone": ["groups", "clone", G, f"new{EVIL}", "--dry-run"],
    "groups export": ["groups", "export", G],
    "groups delete": ["groups", "delete", G, "--dry-run"],
    "groups delete-offsets": ["groups", "delete-offsets", G, "-t", T, "--dry-run"],
    "groups remove-members": ["groups", "remove-members", G, "--all", "--dry-run"],
    "lag": ["lag"],
    "lag by partition": ["lag", "--by", "partition"],
    "lag of a group": ["lag", G],
    "lag, missing": ["lag", f"biling{EVIL}"],
    "lag --watch": ["lag", "--watch", "--interval", "0.05s", "--refreshes", "2"],
    "offsets": ["offsets", T, "-g", G],
    "offsets, missing": ["offsets", f"ordders{EVIL}"],
    "count": ["count", T],
    "raw": ["raw", "Metadata", "--explain"],
    "raw --list": ["raw", "--list"],
    "raw of a group": ["raw", "DescribeGroups", '{"groups": ["billing"]}', "--broker", f"group:{G}"],
    "txn producers": ["txn", "producers", T],
    "doctor": ["doctor"],
    "doctor of a group": ["doctor", "-t", T, "-g", G],
}
RECORDS = {
    "consume": ["consume", T, "-o", "beginning", "-e"],
    "consume -J": ["consume", T, "-o", "beginning", "-e", "-J"],
    "consume -f": ["consume", T, "-o", "beginning", "-e", "-f", "%t %p %o %k %s %h\\n"],
    "consume -v": ["consume", T, "-o", "beginning", "-e", "-v"],
    "consume, missing": ["consume", f"ordders{EVIL}", "-e"],
    "consume in a group": ["consume", T, "-g", f"g2{EVIL}", "-e"],
    "consume ^": ["consume", "^ord", "-e", "-o", "beginning"],
    "consume --order": ["consume", T, "-o", "beginning", "-e", "--order", "time"],
    "tail": ["tail", T, "--no-follow", "-n", "5"],
    "count --grep": ["count", T, "--grep", "x"],
    "count ^": ["count", "^ord"],
    "lag record": ["lag", "record", "--refreshes", "1"],
    "copy": ["copy", T, f"copy{EVIL}", "--dry-run"],
    "copy for real": ["copy", T, f"copy{EVIL}"],
    "redrive": ["redrive", T],
    "produce": ["produce", T, "--value", "x", "-v"],
    "trace": ["topics", "list", "--trace"],
    "cat -C": ["cat", "-b", "BOOTSTRAP", "-C", "-t", T, "-e", "-o", "beginning"],
    "cat -C -J": ["cat", "-b", "BOOTSTRAP", "-C", "-t", T, "-e", "-J"],
    "cat -L": ["cat", "-b", "BOOTSTRAP", "-L"],
    "cat -L -J": ["cat", "-b", "BOOTSTRAP", "-L", "-J"],
    "cat, missing": ["cat", "-b", "BOOTSTRAP", "-C", "-t", f"ordders{EVIL}", "-e"],
}
OTHERS = {"sandbox", "demo", "tui", "pipeline", "config", "schema", "completion", "rollback"}
"""No cluster's words on a terminal, or (tui, pipeline) tested in a place of their own; rollback is groups reset."""

WORDS = {"TOPIC": T, "SRC": T, "DLQ": T, "GROUP": G, "SOURCE": G}


def _others() -> Iterator[tuple[str, list[str]]]:
    """The commands of the tables that are not named above, with arguments by their metavars, as plans only."""
    told = {tuple(words[:2]) for words in TABLES.values()} | {(words[0],) for words in [*TABLES.values()]}
    for name in SUBJECTS.keys() - OTHERS - {words[0] for words in RECORDS.values() if words[0] not in ("topics",)}:
        found = declared(name)
        for verb, command in found.items() if isinstance(found, dict) else [("", found)]:
            words = [name, verb] if verb else [name]
            if tuple(words) in told or (not verb and (name,) in told):
                continue
            flags = {flag for option in command.options for flag in option.flags}
            words += [WORDS.get(word.strip("[]."), f"x{EVIL}") for word in command.words.split()]
            words += ["--dry-run"] if "--dry-run" in flags else []
            yield " ".join(words[: 1 + bool(verb)]), words


TABLES |= dict(sorted(_others()))


pytestmark = pytest.mark.terminal  # a terminal for each command: nothing for `make quick`


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxThread]:
    with leaping(), SandboxThread(topics={"orders": 2}) as running:
        shell = Shell(running.bootstrap)
        shell.ok("produce", "orders", "-k", f"key{EVIL}", "-H", f"head{EVIL}=er{EVIL}", "--value", f"value{EVIL}")
        shell.ok(
            "produce", "orders", "-p", "1", "-H", "kafka_dlt-original-topic=" + EVIL, "--value", '{"a": "\x1b[31m"}'
        )
        shell.ok("consume", "orders", "-g", "billing", "-c", "1", "--from-beginning", "-q")
        yield running


@each("format", FORMATS)
@pytest.mark.parametrize("name", TABLES)
def test_no_answer_acts_on_a_terminal(name: str, format: str, sandbox: SandboxThread) -> None:
    for limits in (SOON, LATER):
        with poisoned(Poison()) as poison:
            code, text = on_a_terminal(*TABLES[name], "--format", format, *limits, bootstrap=sandbox.bootstrap)
        if poison.fields or code != 4:
            break
    assert not leaks(text)
    assert poison.fields or code == 2
    assert code in (0, 1, 2, 3, 4, 5), text
    assert "Traceback" not in text


@pytest.mark.parametrize("name", RECORDS)
def test_no_record_acts_on_a_terminal(name: str, sandbox: SandboxThread) -> None:
    with poisoned(Poison()):
        code, text = on_a_terminal(*RECORDS[name], *SOON, bootstrap=sandbox.bootstrap)
    assert not leaks(text)
    assert code in (0, 1, 2, 3, 4, 5), text
    assert "Traceback" not in text


@each("error", [29, -1, 9999])
@pytest.mark.parametrize("name", [*TABLES, *RECORDS])
def test_no_error_message_acts_on_a_terminal(name: str, error: int, sandbox: SandboxThread) -> None:
    """Every error code of every answer, and a message beside it where the answer has a place for one."""
    words = TABLES.get(name) or RECORDS[name]
    with poisoned(Poison(error=error)):
        code, text = on_a_terminal(*words, *SOON, bootstrap=sandbox.bootstrap)
    assert not leaks(text)
    assert code in (0, 1, 2, 3, 4, 5), text
    assert "Traceback" not in text


@pytest.mark.parametrize("name", ["topics list", "topics describe", "groups describe", "lag", "doctor", "consume"])
def test_no_address_acts_on_a_terminal(name: str, sandbox: SandboxThread) -> None:
    words = TABLES.get(name) or RECORDS[name]
    with poisoned(Poison(addresses=True)):
        code, text = on_a_terminal(*words, *SOON, bootstrap=sandbox.bootstrap)
    assert not leaks(text)
    assert code in (0, 1, 2, 3, 4, 5), text
    assert "Traceback" not in text


def test_what_a_mechanism_is_called_and_why_it_refuses(tmp_path: Path) -> None:
    secured = ("-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.username=me", "-X", "sasl.password=wrong")
    with SandboxThread(topics={"orders": 1}, sasl={"me": "right"}) as running:
        for mechanism in ("PLAIN", "SCRAM-SHA-256"):
            for error in (0, 58, 33):
                for words in (["topics", "list"], ["doctor"]):
                    with poisoned(Poison(error=error)):
                        code, text = on_a_terminal(
                            *words, *secured, "-X", f"sasl.mechanism={mechanism}", *SOON, bootstrap=running.bootstrap
                        )
                    assert not leaks(text)
                    assert code == 5, text
