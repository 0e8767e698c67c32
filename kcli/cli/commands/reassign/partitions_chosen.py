"""The partitions that a line names: `orders`, `orders:0,3-5`, or all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.groups.reset_plan import NoPartition
from kcli.admin.topics.topics import Partition, Topic
from kcli.changes.topics import find
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.output.tables.document import Document
from kcli.cli.parsing.option import Options
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from typing import Annotated

    from kcli.cli.parsing.shared import KcliOption


class AllTopicsOptions(Options):
    """Topics in place of those that the words name."""

    all_topics: Annotated[
        bool, KcliOption("-a", "--all-topics", help="Every topic.", also=("--all-topic-partitions",))
    ] = False


class Chosen:
    """What words and --all-topics say; unless `literal` a word may be a pattern. Raises UsageError for neither and for
    both."""

    def __init__(self, words: list[str], everything: bool, *, internal: bool = False, literal: bool = False) -> None:
        if everything == bool(words):
            raise UsageError("give either topics, such as orders or orders:0,1, or --all-topics")
        self._scope = Scope(words, literal=literal)
        self.by_pattern = bool(self._scope.patterns)
        self.everything, self._internal = everything, internal

    async def find(self, cluster: Cluster, document: Document) -> dict[TopicPartition, Partition]:
        """Each partition as the metadata has it; an unknown partition is an error in the document."""
        found, failed = await self.partitions(cluster)
        for about, error in failed.items():
            document.fail(error, about)
        return found

    async def partitions(self, cluster: Cluster) -> tuple[dict[TopicPartition, Partition], dict[str, KcliError]]:
        """Each partition as the metadata has it, and the errors of what does not exist, by what they are about."""
        names = None if self.everything else [*self._scope.topics, *await self._scope.matching(cluster)]
        found: dict[TopicPartition, Partition] = {}
        failed: dict[str, KcliError] = {}
        for name, topic in (await find(cluster, names, internal=self._internal)).items():
            if not isinstance(topic, Topic):
                failed[name] = topic
            else:
                numbers = None if self.everything else self._scope.numbers(name)
                have = {partition.partition: partition for partition in topic.partitions}
                for number in sorted(numbers if numbers is not None else have):
                    at = TopicPartition(name, number)
                    if number in have:
                        found[at] = have[number]
                    else:
                        failed[f"{name} [{number}]"] = NoPartition(at, len(have))
        return found, failed
