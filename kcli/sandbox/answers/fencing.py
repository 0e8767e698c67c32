"""Error codes for fenced producers: PRODUCER_FENCED is newer than the transactional requests (KIP-588)."""

from __future__ import annotations

from kcli import codes
from kcli.codes import ErrorCode


def error_for(code: ErrorCode, version: int, since: int) -> ErrorCode:
    """`code`, or its older name for a request below version `since`."""
    return codes.INVALID_PRODUCER_EPOCH if code is codes.PRODUCER_FENCED and version < since else code
