"""What a share group is given by the sandbox; tests/kafka/sandbox/test_share_answers.py asks a real Kafka the same."""

from __future__ import annotations

import pytest

from kcli.sandbox import Sandbox
from tests.sandbox.groups.sharing import GIVEN, answers, delivered


async def test_an_answer_has_one_partition_and_nothing_without_bytes() -> None:
    async with Sandbox() as sandbox:
        assert sorted(await answers(sandbox.bootstrap, "t")) == [0, 1, 2]


@pytest.mark.parametrize("isolation", GIVEN)
async def test_isolation_of_the_group_hides_what_was_aborted(isolation: str) -> None:
    async with Sandbox() as sandbox:
        assert await delivered(sandbox.bootstrap, "t", isolation) == GIVEN[isolation]


async def test_aborted_records_are_done_for_the_group() -> None:
    async with Sandbox() as sandbox:
        await delivered(sandbox.bootstrap, "t", "read_committed")
        partition = sandbox.cluster.groups.sharing("t").partition(sandbox.topics.partition("t", 0))
        assert partition.start >= 9, "two transactions of two records and one aborted, each with its marker"
