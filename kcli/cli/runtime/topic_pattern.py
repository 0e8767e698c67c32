"""Topics by pattern for a reader that follows: what matches now, and later. Patterns are those of `kcli.text.names`.

Imported only when a command line has one. Internal topics are never matched (C20).
"""

from __future__ import annotations

import re

from kcli.consumer.subscription import Interest
from kcli.errors import KcliError
from kcli.text.names import NamePattern, expression

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.model import Cluster


class TopicPattern:
    """`text` is one expression that must match names whole: all patterns, and the names beside them. It means the
    same to us and to a KIP-848 coordinator, which reads it with RE2."""

    def __init__(self, patterns: Sequence[str], names: Sequence[str]) -> None:
        self.patterns = tuple(patterns)
        parts = [expression(pattern) for pattern in patterns] + [re.escape(name) for name in names]
        self.text = "|".join(parts)

    def check(self) -> None:
        """Raises UsageError for what Python cannot read; a coordinator that reads it itself says so itself (E62)."""
        for pattern in self.patterns:
            NamePattern(pattern)

    async def topics(self, cluster: Cluster) -> list[str]:
        """The topics that match now, in alphabetical order."""
        return sorted(await Interest(cluster, self.text).topics_now())

    def no_match(self) -> KcliError:
        """What to say when nothing matches and nothing can be waited for."""
        return KcliError(f"{', '.join(self.patterns)}: no topic matches; `kcli topics` lists them")
