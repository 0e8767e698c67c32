"""The partitions that a line names: `orders`, `orders:0,3-5`, or all."""

from __future__ import annotations

from kcli.admin.groups.reset_plan import NoPartition
from kcli.admin.topics.topics import Partition, Topic, describe_topics
from kcli.asking.leaders import TopicMissing
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.output.tables.document import Document
from kcli.cli.parsing.option import Options, flag
from kcli.cli.runtime.answer import missing
from kcli.errors import UsageError
from kcli.model import Cluster, TopicPartition


class AllTopicsOptions(Options):
    """Topics in place of those that the words name."""

    all_topics = flag("-a", "--all-topics", also=("--all-topic-partitions",), help="Every topic.")


class Chosen:
    """What words and --all-topics say; unless `literal` a word may be a pattern. Raises UsageError for neither and for
    both."""

    def __init__(self, words: list[str], everything: bool, *, internal: bool = False, literal: bool = False) -> None:
        if everything == bool(words):
            raise UsageError("name topics, such as orders or orders:0,1, or use --all-topics; not both")
        self._scope = Scope(words, literal=literal)
        self.by_pattern = bool(self._scope.patterns)
        self.everything, self._internal = everything, internal

    async def find(self, cluster: Cluster, document: Document) -> dict[TopicPartition, Partition]:
        """Each partition as the metadata has it; an unknown partition is an error in the document."""
        names = None if self.everything else [*self._scope.topics, *await self._scope.matching(cluster)]
        found: dict[TopicPartition, Partition] = {}
        for name, topic in (await describe_topics(cluster, names, internal=self._internal)).items():
            if isinstance(topic, TopicMissing):
                missing(document, name, topic, await describe_topics(cluster, internal=False))
            elif not isinstance(topic, Topic):
                document.fail(topic, name)
            else:
                numbers = None if self.everything else self._scope.numbers(name)
                have = {partition.partition: partition for partition in topic.partitions}
                for number in sorted(numbers if numbers is not None else have):
                    at = TopicPartition(name, number)
                    if number in have:
                        found[at] = have[number]
                    else:
                        document.fail(NoPartition(at, len(have)), f"{name} [{number}]")
        return found
