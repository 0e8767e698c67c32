"""One request: to a broker, a leader, a coordinator, any broker; each is sent once. The caller decides about retries:
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
    """As `Broker.ask`, but a closed connection and a malformed response raise ConnectError. A closed client is noticed
    by the look-up of a broker, which raises Closed; that is final."""
    try:
        return await broker.ask(request, timeout=timeout, lane=lane)
    except (Closed, DecodeError) as problem:
        raise ConnectError(str(problem), sent=True) from problem


async def ask_leader(cluster: Cluster, at: TopicPartition, request: Request[R], *, timeout: float | None = None) -> R:
    """Look up the leader and send one request; forget the leader if its connection broke. The caller retries."""
    broker = await cluster.leader(at)
    try:
        return await broker.ask(request, timeout=timeout)
    except ConnectError:
        cluster.leader_moved(at)
        raise


async def ask_anyone(cluster: Cluster, request: Request[R]) -> R:
    """What every broker knows, from the first that answers: a dead broker must not end a question that any other
    can answer. Only for requests that change nothing."""
    for _ in range(len(await cluster.nodes())):
        broker = await cluster.anyone()
        try:
            return await broker.ask(request)
        except ConnectError as error:
            if not error.retriable:
                raise
    return await (await cluster.anyone()).ask(request)


async def ask_once(broker: Broker, request: Request[R], timeout: float | None = None) -> R:
    """Send a change. Raises UnknownOutcome if it was sent and has no response: it may be done, so only a caller that
    checks may send it again."""
    try:
        return await broker.ask(request, timeout=timeout)
    except (ConnectError, DeadlineExceeded) as error:
        if not error.sent or getattr(request, "validate_only", False):
            raise
        raise unknown(error) from error


def unknown(error: KcliError) -> UnknownOutcome:
    """What a change ended with that was sent and has no response."""
    return UnknownOutcome(f"it is unknown whether it took effect; check before you repeat it: {error}")
