"""The states of a group member, and the meaning of error codes, for all kinds of membership."""

from __future__ import annotations

from binascii import b2a_base64
from collections import namedtuple
from os import urandom

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from kcli.codes import ErrorCode

    class Identity(NamedTuple):
        """The identity that sent a request. A response to an earlier identity changes nothing."""

        generation: int
        member_id: str
else:
    Identity = namedtuple("Identity", "generation member_id")

OUT, JOINING, SYNCING, STABLE, AWAY, FAILED, CLOSED = "out", "joining", "syncing", "stable", "away", "failed", "closed"

PROCEED = "proceed"
AGAIN = "again"  # ask again at once
RETRY = "retry"  # ask again after a pause
FIND = "find"  # find the coordinator, then ask again
REJOIN = "rejoin"  # a rebalance is in progress; the generation is still valid
LOST = "lost"  # the generation is gone, the member id is not
RESET = "reset"  # both are gone: generation and member id
FATAL = "fatal"  # nothing will help
RAISE = "raise"  # an error for the caller; the membership is unaffected

_SHARED = {
    "COORDINATOR_LOAD_IN_PROGRESS": RETRY,
    "COORDINATOR_NOT_AVAILABLE": FIND,
    "NOT_COORDINATOR": FIND,
    "REBALANCE_IN_PROGRESS": REJOIN,
    "ILLEGAL_GENERATION": LOST,
    "UNKNOWN_MEMBER_ID": RESET,
    "FENCED_INSTANCE_ID": FATAL,
}
ANSWERS: dict[str, dict[str, str]] = {
    "join": _SHARED | {"MEMBER_ID_REQUIRED": AGAIN, "REBALANCE_IN_PROGRESS": RETRY},
    "sync": _SHARED,
    "heartbeat": _SHARED,
    "commit": _SHARED
    | {
        "REQUEST_TIMED_OUT": FIND,
        "UNKNOWN_TOPIC_OR_PARTITION": RETRY,
        "UNKNOWN_TOPIC_ID": RETRY,
        "UNSTABLE_OFFSET_COMMIT": RETRY,
    },
}
"""Next step by error name. Unlisted errors are retried if Kafka declares them retriable, else fatal (RAISE for a
commit)."""
JOIN, LEAVE, LEAVE_STATIC = 0, -1, -2
"""Special member epochs of a request."""
FIRST_INTERVAL = 3.0
"""Seconds between heartbeats until the coordinator sets the interval."""


def judge(api: str, code: ErrorCode) -> str:
    """Return the next step after an error code of the API `api`."""
    if not code:
        return PROCEED
    known = ANSWERS[api].get(code.name)
    if known is not None:
        return known
    if code.retriable:
        return RETRY
    return RAISE if api == "commit" else FATAL


def new_member_id() -> str:
    """Return a random UUID in Kafka's form: 22 characters, not beginning with a hyphen (KIP-1082)."""
    raw = bytearray(urandom(16))
    raw[0] &= 0x7F
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    return b2a_base64(raw, newline=False).decode().rstrip("=").replace("+", "-").replace("/", "_")
