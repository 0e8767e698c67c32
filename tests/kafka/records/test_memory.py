"""Memory: an outage at full input speed is held up at the input, not in memory, and then everything is delivered."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import pytest

from kcli.settings import ProducerSettings
from tests.kafka.cluster import Kafka
from tests.kafka.outage import MIB, Fed
from tests.programs import kcli

OUTAGE = 10.0  # seconds; three times the request timeout, so that batches are sent again on new connections
LIMIT = 3 * ProducerSettings().buffer_memory


@pytest.mark.needs("kcat")
@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_D6_A5_23_an_outage_at_full_speed_stays_under_three_times_the_buffer(
    kafka3: Kafka, topic_name: Callable[[], str]
) -> None:
    topic = topic_name()
    assert kcli("topics", "create", topic, "-p", "3", "-r", "3", "-b", kafka3.bootstrap).code == 0
    with Fed(kafka3, topic, "-X", "request.timeout.ms=3000") as fed:
        time.sleep(1.0)
        for node in kafka3.nodes:
            node.pause()
        time.sleep(1.5)
        held = fed.sent
        time.sleep(OUTAGE - 1.5)
        assert fed.alive, fed.err
        assert fed.sent - held < 100_000, "it takes no more than it has room for"
        for node in kafka3.nodes:
            node.resume()
        fed.pause()
        fed.finish()
        kafka3.heal()
        fed.verify(3, "kcat")
    print(f"{fed.peak / MIB:.0f} MiB at most, the limit is {LIMIT / MIB:.0f}; {fed.sent} records")
    assert ProducerSettings().buffer_memory < fed.peak < LIMIT
