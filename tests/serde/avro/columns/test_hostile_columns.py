"""Some seeds of `hostile.py`: what cannot be read is refused by both cores alike, at once."""

from __future__ import annotations

import pytest

from tests.proto.record_cores import CORES
from tests.serde.avro.columns import hostile
from tests.serde.avro.columns.hostile import play

SEEDS = 300


def test_hostile_schemas_and_payloads() -> None:
    assert sum(play(seed, CORES) for seed in range(SEEDS)) > SEEDS // 4, "most are refused before a payload is read"


def test_the_environment_says_how_many_are_played_and_from_which_seed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played: list[int] = []

    def play(seed: int, cores: object) -> bool:
        played.append(seed)
        return True

    monkeypatch.setattr(hostile, "play", play)
    monkeypatch.setenv("MUTATED_SCHEMAS", "3")
    monkeypatch.setenv("MUTATION_SEED", "7")
    assert hostile.main([]) == 0
    assert played == [7, 8, 9]
    assert capsys.readouterr().out.startswith("3 schemas × 40 payloads")
