"""The pause before something is asked again: it doubles, has jitter, ends at the maximum, and is never nothing."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest

from kcli import codes
from kcli.backoff import LEAST, Backoff, after, repeat, retry
from kcli.errors import (
    AuthError,
    BrokerError,
    Closed,
    ConnectError,
    DeadlineExceeded,
    DecodeError,
    KcliError,
    NeverMet,
    TlsError,
    UnknownOutcome,
    UnsupportedVersion,
    cannot_connect,
)
from tests.producer.world import now, play


@pytest.mark.parametrize(
    ("failures", "base", "maximum", "middle"),
    [
        (0, 0.1, 1.0, 0.1),
        (3, 0.1, 1.0, 0.8),
        (4, 0.1, 1.0, 1.0),
        (10**6, 0.1, 1.0, 1.0),
        (0, 5.0, 1.0, 1.0),
        (0, 0.0, 1.0, LEAST),  # retry.backoff.ms=0
        (3, 0.0, 1.0, 8 * LEAST),
        (0, 0.0, 0.0, LEAST),
        (9, -1.0, -1.0, LEAST),
    ],
)
def test_the_pause_after_so_many_failures(failures: int, base: float, maximum: float, middle: float) -> None:
    waits = {after(failures, base, maximum) for _ in range(100)}
    assert 0.7999 * middle <= min(waits) < max(waits) <= 1.2001 * middle


def test_a_sequence_begins_anew_when_it_worked() -> None:
    backoff = Backoff(0.1, 10.0)
    first, second = backoff.next(), backoff.next()
    assert first <= 0.1201
    assert second >= 0.1599
    assert backoff.failures == 2
    backoff.reset()
    assert backoff.failures == 0
    assert backoff.next() <= 0.1201


@pytest.mark.process
def test_it_is_cheap_to_import() -> None:
    program = "import sys; before = set(sys.modules); import kcli.backoff; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    ours = {"kcli", "kcli.version", "kcli.backoff", "kcli.errors", "kcli.redact", "__future__"}
    assert set(done.stdout.split()) <= ours


# -- what may be asked again, and the two loops that do ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "retriable"),
    [
        (ConnectError("gone"), True),
        (ConnectError("gone", sent=True), True),
        (DeadlineExceeded("slow"), True),  # Java: TimeoutException is a RetriableException
        (BrokerError(codes.NOT_LEADER_OR_FOLLOWER), True),
        (BrokerError(codes.CONCURRENT_TRANSACTIONS), True),
        (BrokerError(codes.UNSTABLE_OFFSET_COMMIT), True),
        (BrokerError(codes.UNKNOWN_TOPIC_ID), True),
        (BrokerError(codes.NOT_COORDINATOR), True),
        (BrokerError(codes.NOT_CONTROLLER), True),
        (BrokerError(codes.BROKER_NOT_AVAILABLE), False),  # Java: BrokerNotAvailableException is none
        (BrokerError(codes.UNKNOWN_SERVER_ERROR), False),
        (BrokerError(codes.of(9999)), False),
        (AuthError("who?"), False),
        (TlsError("expired"), False),
        (NeverMet("nobody"), False),
        (DecodeError("no Kafka"), False),
        (UnsupportedVersion("old"), False),
        (UnknownOutcome("may be"), False),
        (Closed("over"), False),
        (KcliError("else"), False),
    ],
    ids=lambda value: repr(value),
)
def test_one_predicate_says_what_may_be_asked_again(error: KcliError, retriable: bool) -> None:
    assert error.retriable is retriable


@pytest.mark.parametrize("kind", [AuthError, TlsError, NeverMet])
def test_what_no_retry_helps_is_no_kind_of_refused_login(kind: type[ConnectError]) -> None:
    """Finality is `retriable`; only a refused login is an AuthError."""
    assert cannot_connect(kind("no"))
    assert not cannot_connect(ConnectError("gone"))
    assert issubclass(kind, AuthError) is (kind is AuthError)
    assert kind.exit_code == 5


def failing(*errors: KcliError) -> tuple[list[float], Callable[[], Awaitable[str]]]:
    """An attempt that raises these one after another and then succeeds, and when it was made."""
    times: list[float] = []

    async def attempt() -> str:
        times.append(now())
        if len(times) <= len(errors):
            raise errors[len(times) - 1]
        return "done"

    return times, attempt


def test_a_retriable_error_is_tried_again_with_growing_pauses() -> None:
    async def scene() -> None:
        times, attempt = failing(ConnectError("a"), DeadlineExceeded("b"), BrokerError(codes.NOT_COORDINATOR))
        assert await retry(attempt, Backoff(0.1, 10.0), now() + 60) == "done"
        waits = [b - a for a, b in pairwise(times)]
        assert [round(wait / (0.1 * 2**n)) for n, wait in enumerate(waits)] == [1, 1, 1]

    play(scene())


def test_a_final_error_is_raised_at_once_and_the_last_one_when_time_is_over() -> None:
    async def scene() -> None:
        times, attempt = failing(BrokerError(codes.TOPIC_AUTHORIZATION_FAILED))
        with pytest.raises(BrokerError, match="TOPIC_AUTHORIZATION_FAILED"):
            await retry(attempt, Backoff(0.1, 1.0), now() + 60)
        assert len(times) == 1
        begin = now()
        times, attempt = failing(*(ConnectError(str(n)) for n in range(1000)))
        with pytest.raises(ConnectError) as problem:
            await retry(attempt, Backoff(0.1, 1.0), begin + 5)
        assert 3.5 < now() - begin <= 5, "no try begins after the end"
        assert str(problem.value) == str(len(times) - 1)

    play(scene())


def test_a_policy_takes_other_pauses_or_none() -> None:
    async def scene() -> None:
        usual, short = Backoff(10.0, 10.0), Backoff(0.1, 0.1)

        def policy(error: KcliError) -> Backoff | None:
            return short if isinstance(error, DecodeError) else None

        times, attempt = failing(DecodeError("again, for once"), ConnectError("final, for once"))
        with pytest.raises(ConnectError):
            await retry(attempt, usual, now() + 60, policy=policy)
        assert len(times) == 2
        assert times[1] - times[0] <= 0.1201

    play(scene())


def test_a_condition_is_looked_at_until_it_holds_or_another_look_would_come_too_late() -> None:
    async def scene() -> None:
        looks = 0

        async def third() -> bool:
            nonlocal looks
            looks += 1
            return looks == 3

        assert await repeat(third, Backoff(0.1, 1.0))
        assert looks == 3
        begin = now()

        async def slow() -> bool:
            await asyncio.sleep(4.0)
            return False

        assert not await repeat(slow, Backoff(0.1, 1.0), begin + 6)
        assert now() - begin == pytest.approx(4.0), "a second look would have taken until after the end"

    play(scene())
