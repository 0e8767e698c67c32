"""How large a batch may grow before it is closed: batch.size limits the sent bytes, so under compression their estimate
(D4, D5, KIP-126).

The ratio of a topic follows its sealed batches, at once when they are larger than estimated and in steps when they are
smaller. Java's steps down are tiny, because its brokers reject a batch that is too large; here a batch that is larger
than a request is split before it is sent, so the estimate may follow more closely.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.settings import ProducerSettings

WORSE = 0.05  # the least step up, as Java's
BETTER = 8  # the step down is one so-many-th of the difference
MARGIN = 1.05  # the estimate is a guess; Java multiplies by as much
MOST = 4
"""Raw bytes of a batch are at most this multiple of batch.size: one thread compresses a batch in one piece, and its
reader has to hold it in one piece too."""


class Sizing:
    """Raw bytes a batch may have, by topic."""

    __slots__ = ("_most", "_ratios", "_size", "estimates")

    def __init__(self, settings: ProducerSettings) -> None:
        # a batch that is larger than a request or than the buffer could never be sent or made
        self._size = min(settings.batch_size, settings.max_request_size, settings.buffer_memory)
        self.estimates = settings.compression != "none"
        self._most = max(min(MOST * self._size, settings.buffer_memory // 4), self._size)
        self._ratios: dict[str, float] = {}

    def limit(self, topic: str) -> int:
        """Raw bytes of records after which a batch of the topic is full."""
        if not self.estimates:
            return self._size
        ratio = self._ratios.get(topic, 1.0)
        return min(int(self._size / (ratio * MARGIN)), self._most)

    def ratio(self, topic: str) -> float:
        """The estimate: compressed bytes to a raw one."""
        return self._ratios.get(topic, 1.0)

    def observe(self, topic: str, raw: int, sealed: int) -> None:
        """A batch of `raw` bytes of records came out with `sealed`."""
        if not self.estimates or not raw:
            return
        seen, now = sealed / raw, self._ratios.get(topic, 1.0)
        self._ratios[topic] = max(now + WORSE, seen) if seen > now else now - (now - seen) / BETTER

    def too_large(self, topic: str, raw: int, sealed: int) -> None:
        """A batch was larger than the broker accepts: start again from its ratio, at least that of plain bytes."""
        self._ratios[topic] = max(1.0, sealed / raw if raw else 1.0)
