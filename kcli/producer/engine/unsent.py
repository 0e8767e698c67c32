"""A warning when the program ends and a producer still holds records: its block was not left, so they may be lost."""

from __future__ import annotations

import atexit
import sys

from kcli.system.child import after_fork

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.producer.batches.ledger import Counts

_open: dict[int, Counts] = {}
"""Of each producer that was started and not stopped, by id. The counts alone: the producer may be collected before."""


def opened(counts: Counts) -> None:
    """A producer was started."""
    if not _open:
        atexit.unregister(_warn)
        atexit.register(_warn)
    _open[id(counts)] = counts


def stopped(counts: Counts) -> None:
    """The records of a producer have an outcome, each of them."""
    _open.pop(id(counts), None)


def _warn() -> None:
    left = sum(counts.accepted - counts.acked - counts.failed - counts.unknown for counts in _open.values())
    if left > 0 and sys.stderr is not None:
        what = "1 record is" if left == 1 else f"{left} records are"
        print(
            f"kcli: the program ends, and {what} in the queue or on the wire and may be lost: "
            "leave the producer's `with` block, or call flush()",
            file=sys.stderr,
        )


after_fork(_open.clear)
