"""Topics by pattern: `^RE` stands for every topic whose name begins as the expression says, as with kcat.

Imported only when a command line has one. Internal topics are never matched (C20).
"""

from __future__ import annotations

import re

from kcli.consumer.subscription import Interest
from kcli.errors import KcliError, UsageError
from kcli.text.patterns import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.model import Cluster


class TopicPattern:
    """`text` is one expression that must match names whole: all patterns, and the names beside them. It means the
    same to us and to a KIP-848 coordinator, which reads it with RE2."""

    def __init__(self, patterns: Sequence[str], names: Sequence[str]) -> None:
        self.patterns = tuple(patterns)
        parts = [_whole(pattern) for pattern in patterns] + [re.escape(name) for name in names]
        self.text = "|".join(parts)

    def check(self) -> None:
        """Raises UsageError for what Python cannot read; a coordinator that reads it itself says so itself (E62)."""
        for pattern in self.patterns:
            try:
                compiled(pattern)
            except re.error as problem:
                column = "" if problem.pos is None else f" at column {problem.pos + 1}"
                raise UsageError(f"{pattern}: this is no pattern of topics: {problem.msg}{column}") from None

    async def topics(self, cluster: Cluster) -> list[str]:
        """The topics that match now, in alphabetical order."""
        return sorted(await Interest(cluster, self.text).look())

    def no_match(self) -> KcliError:
        """What to say when nothing matches and nothing can be waited for."""
        return KcliError(f"{', '.join(self.patterns)}: no topic's name begins so; `kcli topics` lists them")


def _whole(pattern: str) -> str:
    """An expression that matches whole what begins with a match of the pattern."""
    closed = f"(?:{pattern})" if "|" in pattern else pattern
    return closed if pattern.endswith(("$", ".*")) else f"{closed}.*"
