"""D23: what the producer does with every error code there is, held against Java's classes (data/java_errors.txt)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kcli import codes
from kcli.codes import ErrorCode
from kcli.errors import BrokerError, UnknownOutcome
from kcli.producer.engine.responses import MAYBE_WRITTEN, Verdict, judge
from kcli.producer.transactions.gate import FATAL
from kcli.proto.messages.produce import BatchIndexAndErrorMessage, PartitionProduceResponse
from tests.each import each
from tests.producer.world import Batch, Log, World, balanced, play, producing, send_batches

ROWS = sorted((row for row in vars(codes).values() if isinstance(row, ErrorCode)), key=lambda row: row.number)
JAVA = {
    int(number): word == "retriable"
    for number, _, word in (
        line.split() for line in (Path(__file__).parent / "data/java_errors.txt").read_text().splitlines()
    )
}
OF_ITS_OWN = {  # codes that mean something to an idempotent producer beyond "again" or "never"
    codes.NONE: Verdict.DONE,
    codes.DUPLICATE_SEQUENCE_NUMBER: Verdict.DONE,
    codes.MESSAGE_TOO_LARGE: Verdict.SPLIT,
    codes.OUT_OF_ORDER_SEQUENCE_NUMBER: Verdict.NEW_EPOCH,
    codes.UNKNOWN_PRODUCER_ID: Verdict.NEW_EPOCH,
    codes.INVALID_PRODUCER_EPOCH: Verdict.NEW_EPOCH,
}


@each("row", ROWS, ids=lambda row: row.name)
def test_D23_every_code_is_judged_as_java_does(row: ErrorCode) -> None:
    verdict = judge(row, records=2, next_in_line=True, idempotent=True)
    assert row.retriable == JAVA[row.number]
    if row in OF_ITS_OWN:
        assert verdict is OF_ITS_OWN[row]
    else:
        assert verdict is (Verdict.AGAIN if JAVA[row.number] else Verdict.FAILED)


@each("row", ROWS, ids=lambda row: row.name)
def test_D23_every_code_ends_in_the_world_as_its_class_says(row: ErrorCode) -> None:
    """Once for the first of three batches: the record arrives all the same, or fails with the code's own number."""

    async def scene() -> None:
        world = World()

        def say(log: Log, _: Batch) -> PartitionProduceResponse:
            return log.answer(row)

        async with producing(world, delivery_timeout=30.0) as producer:
            await asyncio.gather(*await send_batches(producer, 1))
            if row:
                world.log().script.append(say)
            told: list[Any] = await asyncio.gather(*await send_batches(producer, 3, first=1), return_exceptions=True)
        balanced(producer)
        final = not (JAVA[row.number] or row in OF_ITS_OWN) or row is codes.MESSAGE_TOO_LARGE  # of a single record
        if final:
            expected = UnknownOutcome if row in MAYBE_WRITTEN else BrokerError
            assert type(told[0]) is expected
            assert row.name in str(told[0])
        elif row is codes.DUPLICATE_SEQUENCE_NUMBER:
            assert told[0].offset == -1  # a success, though nobody knows where
        else:
            assert world.log().records == [b"0", b"1", b"2", b"3"]
        assert [world.log().records[one.offset] for one in told[1:]] == [b"2", b"3"]

    play(scene())


def test_D23_a_code_nobody_knows_is_final_and_printed_with_its_number() -> None:
    async def scene() -> None:
        world = World()
        world.log().script.append(codes.of(4711))
        async with producing(world) as producer:
            (told,) = await asyncio.gather(*await send_batches(producer, 1), return_exceptions=True)
        assert "4711" in str(told)

    assert judge(codes.of(4711), records=1, next_in_line=True, idempotent=True) is Verdict.FAILED
    play(scene())


def test_D23_authorisation_and_fencing_are_fatal_to_a_transactional_producer() -> None:
    """What Java's TransactionManager counts as fatal; INVALID_PRODUCER_EPOCH of a produce is abortable (D41)."""
    for row in (
        codes.CLUSTER_AUTHORIZATION_FAILED, codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, codes.PRODUCER_FENCED,
        codes.INVALID_PRODUCER_ID_MAPPING,
    ):  # fmt: skip
        assert row in FATAL
    for row in (codes.INVALID_PRODUCER_EPOCH, codes.TRANSACTION_ABORTABLE, codes.TOPIC_AUTHORIZATION_FAILED):
        assert row not in FATAL


@pytest.mark.parametrize("code", [codes.INVALID_RECORD, codes.INVALID_TIMESTAMP])
def test_D23_only_bad_records_keep_their_reason(code: ErrorCode) -> None:
    """KIP-467: the others say that they were part of a batch with invalid records."""

    async def scene() -> None:
        world = World()

        def refuse(log: Log, _: Batch) -> PartitionProduceResponse:
            answer = log.answer(code)
            for index, reason in ((1, "no key"), (3, None)):
                answer.record_errors.append(
                    BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=reason)
                )
            return answer

        world.log().script.append(refuse)
        async with producing(world) as producer:
            sent = [await producer.send("t", b"%d" % n, partition=0) for n in range(5)]
            told = await asyncio.gather(*sent, return_exceptions=True)
        others = [str(told[n]) for n in (0, 2, 4)]
        assert all("part of a batch with invalid records" in text for text in others)
        assert "no key" in str(told[1])
        assert code.text in str(told[3])
        assert all(isinstance(one, BrokerError) and one.code is code for one in told)
        balanced(producer)

    play(scene())
