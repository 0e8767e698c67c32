"""Some seeds of `hostile.py`: what cannot be read is refused by both cores alike, at once."""

from __future__ import annotations

from tests.proto.record_cores import CORES
from tests.serde.avro.columns.hostile import play

SEEDS = 300


def test_hostile_schemas_and_payloads() -> None:
    assert sum(play(seed, CORES) for seed in range(SEEDS)) > SEEDS // 4, "most are refused before a payload is read"
