"""How often metadata may be asked: at once when something was learnt, ever slower while nothing changes (C4)."""

from __future__ import annotations

from kcli.backoff import LEAST, jitter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

BROKERS = ""  # stands for a question that names no topic


class Pace:
    """Per topic: when it may be asked about again. Times are seconds; now is an argument."""

    def __init__(self, base: float, maximum: float) -> None:
        self._base = max(base, LEAST)
        self._max = max(maximum, LEAST)
        self._last: dict[str, tuple[float, float]] = {}  # topic to (due, the wait that leads there)

    def wait(self, topics: Collection[str], now: float) -> float:
        """How long to wait before asking about these; a topic never asked about waits for nothing."""
        return max(0.0, min(self._last.get(topic, (now, 0.0))[0] - now for topic in topics or (BROKERS,)))

    def asked(self, topics: Collection[str], now: float, changed: Collection[str]) -> None:
        """They were asked about now; `changed` are those of whom something new was learnt."""
        for topic in topics or (BROKERS,):
            due, before = self._last.get(topic, (now, 0.0))
            grown = before * 2 if before and topic not in changed and now - due <= self._max else self._base
            wait = min(grown, self._max)
            self._last[topic] = (now + jitter(wait), wait)

    def forget(self, topic: str) -> None:
        """Nobody wants it any more."""
        self._last.pop(topic, None)
