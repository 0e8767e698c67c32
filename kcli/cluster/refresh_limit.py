"""How often metadata may be requested: at once after a change, ever slower while nothing changes (C4)."""

from __future__ import annotations

from kcli.backoff import LEAST, after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

BROKERS = ""  # stands for a question that names no topic


class RefreshLimit:
    """Per topic: when it may be requested again. Times are seconds; now is an argument."""

    def __init__(self, base: float, maximum: float) -> None:
        self._base = base
        self._max = max(maximum, LEAST)
        self._last: dict[str, tuple[float, int]] = {}  # topic to (due, questions in a row that taught nothing)

    def wait(self, topics: Collection[str], now: float) -> float:
        """How long to wait before asking about these; a topic never asked about waits for nothing."""
        return max(0.0, min(self._last.get(topic, (now, 0))[0] - now for topic in topics or (BROKERS,)))

    def asked(self, topics: Collection[str], now: float, changed: Collection[str]) -> None:
        """Note a request about topics; `changed` are those with new metadata."""
        for topic in topics or (BROKERS,):
            due, in_vain = self._last.get(topic, (now, -1))
            in_vain = in_vain + 1 if topic not in changed and now - due <= self._max else 0
            self._last[topic] = (now + after(in_vain, self._base, self._max), in_vain)

    def forget(self, topic: str) -> None:
        """Forget a topic that is no longer wanted."""
        self._last.pop(topic, None)
