"""`kcli produce` on a terminal: a prompt for each record, and where it was stored. All of it is on stderr."""

from __future__ import annotations

import os
import sys

from kcli.system.terminal import typed_ahead

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.produce.plan import Plan
    from kcli.producer.producer import BatchOutcome

FEW = 10
"""Records given by --value and --tombstone up to which each is named."""


def prompt_of(plan: Plan) -> Prompt | None:
    """The prompt of a run; None where the records are not typed, or with -q."""
    typed = plan.paths in ([], ["-"]) and not plan.given and not plan.whole
    if not typed or plan.connection.quiet or not (os.isatty(0) and os.isatty(2)):
        return None
    return Prompt(plan.topic)


def named(plan: Plan) -> bool:
    """Whether someone at a terminal reads where each record of --value was stored."""
    count = plan.repeat * (len(plan.values) + len(plan.tombstones))
    return 0 < count <= FEW and os.isatty(2) and not plan.connection.quiet


def stored(outcome: BatchOutcome) -> str | None:
    """Where a batch was stored; None for one that was not, or that nothing is known of (acks 0)."""
    first, count = outcome.base_offset, outcome.count
    if outcome.error is not None or first < 0:
        return None
    offsets = f"offset {first}" if count == 1 else f"offsets {first}-{first + count - 1}"
    return f"stored: partition {outcome.partition}, {offsets}"


def places(stored: dict[int, tuple[int, int]]) -> str:
    """Between which offsets of each partition the records are, of a few partitions."""
    some = [f"partition {at} offsets {first}-{last}" for at, (first, last) in sorted(stored.items())[:FEW]]
    return ", ".join(some) + (f" and {len(stored) - FEW} more partitions" if len(stored) > FEW else "")


class Prompt:
    """The topic's name before each line that is typed."""

    def __init__(self, topic: str) -> None:
        from kcli.text.escape import visible

        self._text = f"{visible(topic)}> "
        self._greeted = False

    def ask(self) -> None:
        """Show the prompt, unless the next line is there already, as of a paste; the first time with how to end."""
        if not self._greeted:
            self._greeted = True
            self._put("One record per line; Ctrl-D ends.\n")
        if not typed_ahead():
            self._put(self._text)

    def tell(self, sentence: str) -> None:
        """A line of its own, under what was typed."""
        self._put(f"  {sentence}\n")

    def end(self) -> None:
        """Leave the line of the prompt."""
        if self._greeted:
            self._put("\n")

    def _put(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            self._text = ""  # the terminal is gone; reading continues to the end of the input
