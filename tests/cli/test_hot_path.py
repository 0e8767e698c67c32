"""The hot path: what starts, sends and reads records imports neither typing nor the folders that may import it.

`TYPE_CHECKING = False` in place of `from typing import TYPE_CHECKING` is for modules of the hot path. A folder or
module that no command of the hot path imports is listed here, and has plain imports.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread

ROOT = Path(__file__).parent.parent.parent
LINES = (
    "--version", "cat -P -t t", "cat -C -e -t t", "produce t", "consume t -e", "consume t -g g -e",
    "tail t -e", "count t", "topics list --format tsv", "groups list --format tsv", "lag --format tsv", "offsets t",
    "__complete bash kcli con",
)  # fmt: skip
OFFLINE = ("--version", "__complete")
COMMANDS = (
    "acls apply brokers cluster config configs copy demo doctor faults groups/reset leaders logdirs meta pipeline "
    "quotas raw reassign redrive tokens txn users"
)
PLAIN = [
    *("kcli/pipeline", "kcli/declared", "kcli/copying", "kcli/seeking", "kcli/cli/documents"),
    *("kcli/sandbox", "kcli/tui", "kcli/lag/formats"),
    *(f"kcli/admin/{name}" for name in "acls cluster quotas reassign storage transactions users".split()),
    *(f"kcli/cli/commands/{name}" for name in COMMANDS.split()),
]
OPTIONS = "options"  # modules that declare a command line, which every command line may import
COSTLY = {"typing", "dataclasses", "json", "re", "logging", "inspect", "ssl", "yaml", "typer", "rich", "textual"}
IMPORTED = """
import sys
from kcli.cli.main import main
try:
    code = main(sys.argv[1:])
except SystemExit as end:
    code = end.code
print(code, *sys.modules, file=sys.stderr)
"""


@pytest.fixture(scope="module")
def imported() -> dict[str, set[str]]:
    """The modules that each line imports, in a process of its own."""
    modules = {}
    with SandboxThread() as sandbox:
        for line in LINES:
            words = line.split()
            servers = [] if words[0] in OFFLINE else ["-b", sandbox.bootstrap]
            done = subprocess.run(
                [sys.executable, "-c", IMPORTED, *words, *servers], input="record\n", capture_output=True, text=True
            )
            code, *names = done.stderr.splitlines()[-1].split()
            assert code == "0", (line, done.stderr)
            modules[line] = set(names)
    return modules


@pytest.mark.process
@pytest.mark.parametrize("line", LINES)
def test_a_line_of_the_hot_path_imports_nothing_costly(imported: dict[str, set[str]], line: str) -> None:
    assert not COSTLY & imported[line]


@pytest.mark.process
def test_no_line_of_the_hot_path_imports_a_folder_with_plain_imports(imported: dict[str, set[str]]) -> None:
    names = {name.replace(".", "/") for modules in imported.values() for name in modules}
    loaded = {name for name in names if f"{name}/".startswith(tuple(f"{folder}/" for folder in PLAIN))}
    assert {name for name in loaded if not name.endswith(OPTIONS)} == set()


@pytest.mark.process
@pytest.mark.parametrize("line", ["--help", "topics --help", "consume --help", "pipeline sql --help-all"])
def test_help_imports_no_command_and_not_what_Typer_does_not_need_for_it(line: str) -> None:
    """With a table: Pydantic takes 100 ms, Markdown and tracebacks 60, a command up to 200."""
    done = subprocess.run([sys.executable, "-c", IMPORTED, *line.split()], capture_output=True, text=True, cwd=ROOT)
    names = set(done.stderr.split())
    assert "typer.rich_utils" in names
    assert not {"pydantic", "markdown_it", "pygments", "attr", "asyncio"} & names
    assert not [name for name in names if name.startswith(("kcli.cli.commands", "kcli.admin", "kcli.proto"))]


@pytest.mark.process
def test_a_thread_with_a_codec_costs_no_logging_and_the_process_ends_without_it(tmp_path: Path) -> None:
    """`concurrent.futures` imports `logging`, 8 ms; to end with the interpreter's clean-up takes as long."""
    lines = tmp_path / "lines"
    lines.write_bytes(b"".join(b"line %d of many\n" % number for number in range(60_000)))
    code = (
        "import os, sys, threading\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "os._exit = lambda code: sys.exit(' '.join(['quick', *sys.modules]))\n"
        "from kcli.cli.main import console\n"
        "console()"
    )
    with SandboxThread(topics={"packed": 1}) as sandbox:
        words = ["packed", "-b", sandbox.bootstrap]
        with lines.open("rb") as source:
            produce = [sys.executable, "-c", code, "produce", *words, "-z", "lz4", "-X", "linger.ms=1000"]
            sent = subprocess.run(produce, stdin=source, capture_output=True, text=True, cwd=ROOT)
        consume = [sys.executable, "-c", code, "consume", *words, "-e", "-q"]
        read = subprocess.run(consume, capture_output=True, text=True, cwd=ROOT)
    assert read.stdout == lines.read_text()
    for done in (sent, read):
        assert {"quick", "queue", "lz4.frame"} <= set(done.stderr.split()), done.stderr
        assert not {"logging", "concurrent.futures"} & set(done.stderr.split())


@pytest.mark.process
def test_who_names_no_registry_imports_nothing_of_it(imported: dict[str, set[str]]) -> None:
    theirs = ("kcli.registry", "kcli.schemas", "kcli.security", "http", "urllib")
    assert {name for modules in imported.values() for name in modules if name.startswith(theirs)} == set()


@pytest.mark.parametrize("folder", PLAIN)
def test_a_folder_beside_the_hot_path_has_plain_imports(folder: str) -> None:
    modules = sorted((ROOT / folder).rglob("*.py")) or [(ROOT / folder).with_suffix(".py")]
    assert [str(path) for path in modules if "TYPE_CHECKING = False" in path.read_text()] == []
