"""With topics, whole or a partition of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.configs.resources import Resource
from kcli.tui.actions.acts import Act, of_change
from kcli.tui.text.printable import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.tui.screens.page import Page


def of_topic(page: Page, topic: str) -> list[Act]:
    """With a topic."""
    from kcli.tui import routes
    from kcli.tui.actions.changes.configs import AlterConfigs
    from kcli.tui.actions.changes.topics import AddPartitions, DeleteTopics, ElectLeaders, TrimTopic

    name = quoted(topic)
    return [
        Act("t", "Follow its records", f"kcli tail {name}", lambda: page.go(routes.Records((topic,)))),
        Act("n", "Produce a record …", f"kcli produce {name} --value …", lambda: page.produce(topic), changes=True),
        *create_topic(page),
        of_change("c", "Change its configs …", AlterConfigs(Resource("topic", topic)), page.begin),
        of_change("P", "Add partitions …", AddPartitions(topic), page.begin),
        of_change("e", "Elect its preferred leaders …", ElectLeaders(topic), page.begin),
        of_change("T", "Trim: delete old records …", TrimTopic(topic), page.begin),
        of_change("D", "Delete the topic …", DeleteTopics(topic), page.begin),
        Act("l", "Its ACLs", f"kcli acls who-can read topic {name}", lambda: page.go(routes.Access("topic", topic))),
    ]


def of_partition(page: Page, topic: str, number: int) -> list[Act]:
    """With a partition, and with its topic."""
    from kcli.tui.actions.changes.topics import TrimTopic

    return [
        of_change("p", f"Trim partition {number} …", TrimTopic(topic, number), page.begin),
        *of_topic(page, topic),
    ]


def of_topics(page: Page, topics: Sequence[str]) -> list[Act]:
    """With the topics that are marked."""
    from kcli.tui.actions.changes.topics import DeleteTopics

    return [of_change("D", f"Delete the {len(topics)} topics …", DeleteTopics(*topics), page.begin)]


def create_topic(page: Page) -> list[Act]:
    """A new topic, whatever row is under the cursor."""
    from kcli.tui.actions.changes.topics import CreateTopic

    return [of_change("+", "Create a topic …", CreateTopic(), page.begin)]
