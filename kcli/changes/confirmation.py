"""The one rule by which a change is confirmed. `kcli help scripts` states it for users.

On a terminal the plan is shown and a question asked, which --yes or --execute answers. Without a terminal nothing
changes unless the line says --execute. A pattern that deletes asks for the number of matches; without a terminal it
takes --execute with --expect N, or with --yes for any number.
"""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.values import Frozen


class Said(Frozen):
    """What a command line says about applying its plan, and whether a question can be asked."""

    execute: bool = False
    yes: bool = False
    expect: int | None = None
    terminal: bool = False

    def check(self) -> None:
        """Raises UsageError for --yes alone without a terminal, where no question is asked."""
        if self.yes and not self.execute and not self.terminal:
            raise UsageError("--yes answers a question, and without a terminal none is asked; add --execute")

    def applies(self, count: int, noun: str, *, by_pattern: bool, destroys: bool) -> bool:
        """Whether to apply a plan that changes `count` things without a question; False asks it. Raises UsageError
        where it cannot be asked, and for another number of matches than the line expects."""
        if self.expect is not None and not by_pattern:
            raise UsageError("--expect is the number of names that a pattern matches; the line has no pattern")
        matched = f"{count} {noun}{'' if count == 1 else 's'} {'matches' if count == 1 else 'match'}"
        if self.expect not in (None, count):
            raise UsageError(f"--expect {self.expect}: {matched}; nothing was changed")
        if by_pattern and destroys:
            if self.execute and (self.yes or self.expect is not None):
                return True
            if not self.terminal:
                wanted = f"add --execute --expect {count}, or --execute --yes for any number"
                raise UsageError(f"{matched}; nothing was changed: {wanted}")
            return False
        return self.execute or self.yes
