"""Every recorded command line (examples of the help, docs, tasks) is one request, by the fast parser and by Typer.

`tests/test_tasks.py` runs its lines both ways: the same output and exit codes.
"""

from __future__ import annotations

from kcli.cli.parsing.parser import parse
from kcli.cli.parsing.resolver import find
from kcli.errors import UsageError
from tests.cli.parsing.test_examples_of_help import EXAMPLES
from tests.cli.parsing.typers import read_by_typer
from tests.docs.test_blocks import EXAMPLES as IN_DOCS
from tests.docs.test_blocks import words_of
from tests.test_tasks import SECTIONS

TASKS = [task.line for tasks in SECTIONS.values() for task in tasks]
LINES = sorted({*EXAMPLES, *(line.text.removeprefix("$ ") for line in IN_DOCS), *TASKS})


def test_a_recorded_line_is_the_same_request_both_ways() -> None:
    compared = 0
    for text in LINES:
        words = words_of(text)
        if words[:1] != ["kcli"] or words[1:2] == ["help"]:
            continue
        try:
            chosen = find(words[1:])
        except UsageError:
            continue  # a mistake in the first words, which neither of them reads
        fast = None if chosen is None else parse(chosen[0], chosen[1])
        if chosen is not None and fast is not None:
            assert read_by_typer(chosen[0], chosen[1]) == fast, text
            compared += 1
    assert compared > 550
