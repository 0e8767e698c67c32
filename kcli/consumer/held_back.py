"""How long read_committed consumers have been waiting for open transactions."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.model import TopicPartition


class HeldBack:
    """The partitions that wait at a last stable offset. Short waits are normal in topics with transactions and not
    worth a message."""

    def __init__(self) -> None:
        self._since: dict[tuple[TopicPartition, int], float] = {}

    def lasting(
        self, ends: Mapping[TopicPartition, tuple[int, int]], now: float, seconds: float
    ) -> dict[TopicPartition, tuple[int, int]]:
        """Return those of `Consumer.undecided` that have waited at the same offset for `seconds` or longer."""
        since = {(at, stable): self._since.get((at, stable), now) for at, (stable, _) in ends.items()}
        self._since = since
        return {at: ends[at] for (at, _), begun in since.items() if now - begun >= seconds}
