"""Converts bounds to offsets: start and end positions, looked up in the logs.

The leader is asked, whichever replica is read. A partition that fails has an error beside the results of the others.
"""

from __future__ import annotations

import asyncio

from kcli.asking.offsets import EARLIEST, LATEST, LogOffset, list_offsets
from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.grammar.bound import Bound
    from kcli.model import Cluster, TopicPartition

    Answers = dict[TopicPartition, LogOffset | KcliError]


async def resolve(
    cluster: Cluster,
    bounds: Mapping[TopicPartition, Bound],
    isolation: str = "read_uncommitted",
    *,
    reset: str = "earliest",
    deadline: float = 30.0,
    wait_for_leaders: bool = True,
) -> Answers:
    """Return the offset of every bound.

    With read_committed, "latest" and bounds relative to the end mean the last stable offset. "stored" becomes the reset
    policy, because a consumer with a group fetches its commits first. A position outside the log becomes its start or
    end; an explicit offset is kept. `wait_for_leaders` is that of `list_offsets`.
    """
    rounds: list[dict[TopicPartition, int]] = [{}, {}, {}]
    for at, bound in bounds.items():
        kind = reset if bound.kind == "stored" else bound.kind
        if kind in ("earliest", "relative", "from_start"):
            rounds[0][at] = EARLIEST
        if kind in ("latest", "relative", "from_start", "time"):
            rounds[1][at] = LATEST
        if kind == "time":
            rounds[2][at] = bound.value
    first, last, timed = await asyncio.gather(
        *(
            list_offsets(cluster, wanted, isolation, patience=deadline, wait_for_leaders=wait_for_leaders)
            for wanted in rounds
        )
    )
    answers: Answers = {}
    for at, bound in bounds.items():
        kind = reset if bound.kind == "stored" else bound.kind
        if kind == "offset":
            answers[at] = LogOffset(bound.value)
        elif kind == "none":
            answers[at] = KcliError(f"{at.topic} partition {at.partition}: no position, and auto.offset.reset is none")
        else:
            answers[at] = _place(kind, abs(bound.value), first.get(at), last.get(at), timed.get(at))
    return answers


def _place(
    kind: str,
    value: int,
    first: LogOffset | KcliError | None,
    last: LogOffset | KcliError | None,
    timed: LogOffset | KcliError | None,
) -> LogOffset | KcliError:
    for answer in (first, last, timed):
        if isinstance(answer, KcliError):
            return answer
    if kind == "time" and isinstance(timed, LogOffset) and timed.offset >= 0:
        return timed
    if isinstance(first, LogOffset) and isinstance(last, LogOffset):
        if kind == "relative":
            return LogOffset(max(first.offset, last.offset - value))
        return LogOffset(min(first.offset + value, max(first.offset, last.offset)))
    return first if kind == "earliest" else last  # type: ignore[return-value]
