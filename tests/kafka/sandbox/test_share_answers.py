"""What a share group is given by a real Kafka, as by the sandbox (tests/sandbox/groups/test_share_answers.py)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.kafka.cluster import Kafka
from tests.sandbox.groups.sharing import GIVEN, answers, delivered


async def test_an_answer_has_nothing_without_bytes(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    """Kafka mostly gives one partition an answer, as the sandbox does, and under load sometimes several."""
    assert sorted(await answers(kafka.bootstrap, topic_name(), most=3)) == [0, 1, 2]


@pytest.mark.parametrize("isolation", GIVEN)
async def test_isolation_of_the_group_hides_what_was_aborted(
    kafka: Kafka, topic_name: Callable[[], str], isolation: str
) -> None:
    assert await delivered(kafka.bootstrap, topic_name(), isolation) == GIVEN[isolation]
