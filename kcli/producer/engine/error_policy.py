"""What a partition's answer means for its batch (D23): done, again, split, a new epoch, or failed."""

from __future__ import annotations

from enum import Enum

from kcli import codes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.codes import ErrorCode


class Verdict(Enum):
    DONE = "done"
    AGAIN = "again"
    SPLIT = "split"
    NEW_EPOCH = "new epoch"
    FAILED = "failed"


MAYBE_WRITTEN = (
    codes.REQUEST_TIMED_OUT,
    codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    codes.NETWORK_EXCEPTION,  # also what a batch gets that the answer does not mention (D33)
    codes.UNKNOWN_SERVER_ERROR,
    codes.KAFKA_STORAGE_ERROR,
)
LOST_SEQUENCE = (codes.UNKNOWN_PRODUCER_ID, codes.INVALID_PRODUCER_EPOCH)


def judge(code: ErrorCode, *, records: int, next_in_line: bool, idempotent: bool) -> Verdict:
    """The verdict on a batch of `records` records. A duplicate is a success with an unknown offset (D26)."""
    if not code or code is codes.DUPLICATE_SEQUENCE_NUMBER:
        return Verdict.DONE
    if code is codes.MESSAGE_TOO_LARGE:
        return Verdict.SPLIT if records > 1 else Verdict.FAILED
    if idempotent and (code is codes.OUT_OF_ORDER_SEQUENCE_NUMBER or code in LOST_SEQUENCE):
        return Verdict.NEW_EPOCH if next_in_line else Verdict.AGAIN
    return Verdict.AGAIN if code.retriable else Verdict.FAILED


def maybe_written(code: ErrorCode, acks: int) -> bool:
    """Whether the batch may be in the log although the answer is an error. A leader that is deposed while the
    replicas are still fetching answers NOT_LEADER, and its successor may have the batch."""
    return code in MAYBE_WRITTEN or (acks == -1 and code is codes.NOT_LEADER_OR_FOLLOWER)
