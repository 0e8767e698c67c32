"""Which fetcher of a share consumer asks for which partition."""

from __future__ import annotations

from typing import cast

from kcli.consumer.share.reader import ShareReader
from kcli.consumer.share.settings import ShareSettings
from kcli.model import Cluster, TopicPartition
from kcli.settings import ConsumerSettings

BROKERS = 50
PLACES = {(b"t" * 16, n): TopicPartition("t", n) for n in range(BROKERS)}


class Leaders:
    """A cluster of which nothing but leaders is asked."""

    def __init__(self) -> None:
        self.leaders = {at: at.partition for at in PLACES.values()}
        self.version = 1
        self.asked = 0

    def leader_id(self, at: TopicPartition) -> int:
        self.asked += 1
        return self.leaders[at]

    def leaders_version(self) -> int:
        return self.version


async def test_leaders_are_looked_for_once_until_one_may_have_changed() -> None:
    """Not in each round of each fetcher: fifty brokers with a partition each would look 2,500 times a round."""
    cluster = Leaders()
    reader = ShareReader(cast("Cluster", cluster), ConsumerSettings(), ShareSettings(group="g"))
    reader.closing = True  # no tasks, as they would ask brokers
    reader.assign(PLACES)
    for _ in range(3):
        assert [list(reader.wanted(node)) for node in range(BROKERS)] == [[place] for place in PLACES]
    assert cluster.asked == BROKERS
    cluster.leaders[TopicPartition("t", 3)], cluster.version = 7, 2
    assert [at.partition for at in reader.wanted(7).values()] == [3, 7]
    assert reader.wanted(3) == {}
    place = next(iter(PLACES))
    reader.assign({place: PLACES[place]})
    assert [len(reader.wanted(node)) for node in (0, 7)] == [1, 0]
