"""Single requests to a broker, a leader or any broker, sent once. The caller decides about retries:
`kcli.backoff.retry`."""

from __future__ import annotations

from kcli.errors import Closed, ConnectError, DeadlineExceeded, DecodeError, UnknownOutcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from kcli.errors import KcliError
    from kcli.model import Broker, Cluster, TopicPartition
    from kcli.proto.schema import Request

    R = TypeVar("R")


async def ask_broker(
    broker: Broker, request: Request[R], *, timeout: float | None = None, lane: str | None = None
) -> R:
    """Like `Broker.ask`, but a closed connection or a malformed response raises ConnectError. If the client was closed,
    the look-up of a broker raises Closed, which is final."""
    try:
        return await broker.ask(request, timeout=timeout, lane=lane)
    except (Closed, DecodeError) as problem:
        raise ConnectError(str(problem), sent=True) from problem


async def ask_leader(cluster: Cluster, at: TopicPartition, request: Request[R], *, timeout: float | None = None) -> R:
    """Look up the leader and send one request; discard the leader if its connection broke. The caller retries."""
    broker = await cluster.leader(at)
    try:
        return await broker.ask(request, timeout=timeout)
    except ConnectError:
        cluster.leader_moved(at)
        raise


async def ask_anyone(cluster: Cluster, request: Request[R]) -> R:
    """Send a request that any broker can answer, and return the first response, so that a dead broker does not matter.
    Only for requests that change nothing."""
    for _ in range(len(await cluster.nodes())):
        broker = await cluster.anyone()
        try:
            return await broker.ask(request)
        except ConnectError as error:
            if not error.retriable:
                raise
    return await (await cluster.anyone()).ask(request)


async def ask_once(broker: Broker, request: Request[R], timeout: float | None = None) -> R:
    """Send a change. Raises UnknownOutcome if it was sent and got no response: it may have been executed, so only a
    caller that checks may send it again."""
    try:
        return await broker.ask(request, timeout=timeout)
    except (ConnectError, DeadlineExceeded) as error:
        if not error.sent or getattr(request, "validate_only", False):
            raise
        raise unknown(error) from error


def unknown(error: KcliError) -> UnknownOutcome:
    """Return the error for a change that was sent and got no response."""
    return UnknownOutcome(f"it is unknown whether it took effect; check before you repeat it: {error}")
