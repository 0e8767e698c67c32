"""No answer of a broker ends a command in a traceback, the name of an exception of Python's, or a hang.

MUTATED_SEEDS (200) seeds for each command, as many of them as fit into its share of MUTATED_SECONDS (10) in all; a seed
always changes the same fields in the same way. CI plays 200 of each command, the night 1,000, and `make chaos` 20,000.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from kcli.cli.parsing.registry import SUBJECTS as ALL
from kcli.cli.parsing.registry import declared
from tests.cli.mutated_commands import COMMANDS, ELSEWHERE, Bench
from tests.effort import tries

SEEDS = int(os.environ.get("MUTATED_SEEDS", "200"))
SECONDS = float(os.environ.get("MUTATED_SECONDS", tries(10)))
LEAST = tries(4)
"""Seeds that each command gets on a machine however slow."""
NEED_A_FILE = {"undo", "history"}
"""Their answers are those of add, set and alter."""
SAME_ANSWERS = {"configs subtract", "cluster features downgrade", "cluster voters add", "tokens renew", "tokens expire"}
"""As append, upgrade, remove and create."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("mutated"))
    yield made
    print(f"{made.runs} runs of {len(COMMANDS)} commands")
    made.close()


@pytest.mark.kcli_violates
@pytest.mark.parametrize("name", COMMANDS)
def test_no_answer_breaks_a_command(name: str, bench: Bench) -> None:
    fields = bench.fields(name)
    end = time.perf_counter() + SECONDS / len(COMMANDS)
    for seed in range(SEEDS):
        if seed >= LEAST and time.perf_counter() > end:
            break
        done = bench.run(name, seed, fields)
        assert not done.fault, done.fault


def test_every_command_is_here() -> None:
    tried = {" ".join(line.split()) for line in COMMANDS.values()}
    missing = []
    for name in ALL.keys() - ELSEWHERE:
        found = declared(name)
        for verb in found if isinstance(found, dict) else [""]:
            words = f"{name} {verb}".strip()
            known = words in NEED_A_FILE | SAME_ANSWERS or words in ("brokers list", "cluster describe")
            if not known and not any(line == words or line.startswith(f"{words} ") for line in tried):
                missing.append(words)
    assert not missing
