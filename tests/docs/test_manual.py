"""Man pages: made of the declarations, without a warning of groff or mandoc, where nothing is installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kcli.cli.parsing.help.manual import pages, write
from kcli.cli.parsing.help.topics import TOPICS
from kcli.cli.parsing.registry import SUBJECTS, every
from tests.each import each

ROOT = Path(__file__).resolve().parents[2]
PAGES = pages("2026-01-31")
REQUESTS = r'\.(\\"|TH|SH|SS|PP|TP|RS|RE|nf|fi|br)( |$)'


def test_there_is_a_page_for_each_subject_and_each_topic() -> None:
    assert PAGES.keys() == {"kcli.1", *(f"kcli-{name}.1" for name in SUBJECTS), *(f"kcli-{name}.7" for name in TOPICS)}


@each("name", PAGES)
def test_a_text_is_no_request(name: str) -> None:
    lines = PAGES[name].splitlines()
    assert lines[1].startswith(f".TH {name[:-2].upper()} {name[-1]} 2026-01-31 ")
    assert [line for line in lines if line.startswith((".", "'")) and not re.match(REQUESTS, line)] == []
    assert PAGES[name].isascii()
    assert "`" not in PAGES[name]


@each("path", [path for path, command in every() if not command.own_words])
def test_a_page_explains_every_option_of_its_command(path: str) -> None:
    page = PAGES[f"kcli-{path.split()[0]}.1"].replace("\\-", "-")
    options = [option for option in dict(every())[path].options if not option.hidden]
    assert [one.name for one in options for flag in (*one.flags, *one.also) if f"\\fB{flag}\\fR" not in page] == []


def test_signs_of_roff_are_escaped() -> None:
    assert r"%T{iso} %p %o %k %s\en\(aq" in PAGES["kcli-consume.1"]
    assert r"\(aq\(haorders\-\(aq" in PAGES["kcli-patterns.7"]


@pytest.mark.process
@pytest.mark.parametrize("program", [pytest.param(name, marks=pytest.mark.needs(name)) for name in ("mandoc", "man")])
def test_no_page_has_a_warning(program: str, tmp_path: Path) -> None:
    options = ["-T", "lint", "-W", "warning"] if program == "mandoc" else ["--warnings", "-E", "UTF-8", "-l", "-Tutf8"]
    done = subprocess.run(
        [program, *options, *write(tmp_path, 0)], env={**os.environ, "LC_ALL": "C.UTF-8", "MANPAGER": "cat"},
        stdout=subprocess.PIPE if program == "mandoc" else subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        timeout=100,
    )  # fmt: skip
    assert (done.returncode, done.stdout or "", done.stderr) == (0, "", "")


@pytest.mark.process
def test_pages_are_made_where_nothing_is_installed(tmp_path: Path) -> None:
    """A wheel is built in an environment that has setuptools and Cython only."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from kcli.cli.parsing.help import manual; manual.main()"
    subprocess.run([sys.executable, "-I", "-S", "-c", code, tmp_path], check=True, timeout=60)
    assert {path.name for path in tmp_path.iterdir()} == PAGES.keys()
