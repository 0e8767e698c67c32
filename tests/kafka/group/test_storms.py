"""Rebalance storms, short ones: `make storm` has the full minute of each."""

from __future__ import annotations

import pytest

from tests.kafka.cluster import Kafka
from tests.kafka.storm import PROTOCOLS, Storm

SECONDS = {"range": 12.0, "cooperative-sticky": 8.0, "consumer": 12.0}


@pytest.mark.long
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_E38_E39_a_storm_loses_nothing_and_repeats_only_what_was_not_committed(kafka: Kafka, protocol: str) -> None:
    print(Storm(kafka, protocol, "a storm").run(SECONDS[protocol]))
