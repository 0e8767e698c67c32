"""`consume --timeout`: how long no record may come."""

from __future__ import annotations

import pytest

from kcli.consumer.consumer import Consumer
from kcli.consumer.poll import Fetched
from tests.cli.conftest import Shell


def test_a_look_for_new_partitions_does_not_begin_the_time_anew(kcli: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks one second after its start, then after two more: what is waited for after the record is 1.5 s in all."""
    topic = kcli.topic()
    kcli.ok("produce", topic, "--value", "x", "-q")
    poll = Consumer.poll
    waited: list[float] = []

    async def noted(self: Consumer, timeout: float | None = None, max_bytes: int | None = None) -> list[Fetched]:
        got = await poll(self, timeout, max_bytes)
        if got:
            waited.clear()
        else:
            waited.append(timeout or 0.0)
        return got

    monkeypatch.setattr(Consumer, "poll", noted)
    done = kcli("consume", topic, "--timeout-ms", "1500")
    assert (done.returncode, done.stdout) == (4, b"x\n")
    assert done.stderr == b"kcli: no record arrived for 1500 ms\n"
    assert len(waited) >= 2
    assert sum(waited) < 1.6, waited
