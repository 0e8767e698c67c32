"""Delete topics with all their records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.topics.stats import spans
from kcli.admin.topics.topics import Topic, delete_topics, describe_topics
from kcli.asking.leaders import TopicMissing
from kcli.errors import KcliError
from kcli.tui.actions.changes.change import Change, Plan, Step
from kcli.tui.actions.changes.several import settle, title_of, word_of
from kcli.tui.text.formatting import exact
from kcli.tui.text.printable import quoted

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.tui.actions.changes.change import Given


class DeleteTopics(Change):
    """One topic, or several. A row that cannot go says why; the others do."""

    def __init__(self, *topics: str) -> None:
        self.topics = topics
        self.word = word_of(topics, "topic")
        self.title = f"{title_of('Delete', topics, 'topic')}: this cannot be undone"

    def command(self, given: Given) -> str:
        return f"kcli topics delete {' '.join(map(quoted, self.topics))} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        found = await describe_topics(client.cluster, self.topics)
        offsets = await spans(client.cluster, {n: topic for n, topic in found.items() if isinstance(topic, Topic)})
        steps = {name: _step(name, found.get(name) or TopicMissing(name), offsets.get(name)) for name in self.topics}
        ready = [name for name, step in steps.items() if step.result == "would delete"]
        if not ready:
            raise KcliError(next(iter(steps.values())).note)

        async def carry_out(client: Client) -> str:
            settle(steps, await delete_topics(client.cluster, ready), "deleted")
            return ""

        return Plan(steps=list(steps.values()), carry_out=carry_out)


def _step(name: str, topic: Topic | KcliError, offsets: int | None) -> Step:
    step = Step(what=name, result="would delete")
    if isinstance(topic, KcliError):
        step.failed(topic)
    elif topic.internal:
        step.failed(f"{name}: this is an internal topic of Kafka; kcli topics delete --internal allows this")
    else:
        step.old = f"{len(topic.partitions)} partitions, {'?' if offsets is None else exact(offsets)} offsets"
    return step
