"""With brokers, their configs, and partitions that move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.configs.resources import Resource
from kcli.tui.actions.acts import Act, of_change
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from kcli.admin.configs.resources import Config
    from kcli.model import TopicPartition
    from kcli.tui.screens.page import Page


def of_broker(page: Page, number: int, *, others: bool = False) -> list[Act]:
    """With a broker; `others`: there are more brokers, to which its replicas could go."""
    from kcli.tui import routes
    from kcli.tui.actions.changes.configs import AlterConfigs

    shown = Act(
        "o",
        "Its partitions, disks, configs",
        f"kcli logdirs replicas --broker {number}",
        lambda: page.go(routes.Broker(number)),
    )
    plan = f"kcli reassign plan --remove-broker {number}"
    away = Act("M", "Copy the plan that empties it", plan, lambda: page.copy(page.session.aimed(plan)))
    return [
        shown,
        of_change("c", "Change its configs …", AlterConfigs(Resource("broker", str(number))), page.begin),
        of_change("C", "Change configs of all brokers …", AlterConfigs(Resource("broker", "")), page.begin),
        *elect_all(page),
        *([away] if others else []),
    ]


def elect_all(page: Page) -> list[Act]:
    """Preferred leaders, whatever row is under the cursor."""
    from kcli.tui.actions.changes.topics import ElectLeaders

    return [of_change("e", "Elect the preferred leaders of all topics …", ElectLeaders(), page.begin)]


def of_config(page: Page, at: Resource, config: Config | None) -> list[Act]:
    """With a config of a topic or a broker: change it, where brokers allow that and show its value."""
    from kcli.tui.actions.changes.configs import AlterConfigs

    if config is None or config.secret or config.read_only:
        return []
    change = AlterConfigs(at, config.name, config.value or "")
    return [of_change("v", f"Change {printable(config.name)} …", change, page.begin)]


def of_move(page: Page, at: TopicPartition | None) -> list[Act]:
    """With a partition that moves."""
    from kcli.tui import routes
    from kcli.tui.actions.changes.moves import CancelMove

    if at is None:
        return elect_all(page)
    return [
        of_change("X", "Cancel the move …", CancelMove(at), page.begin),
        Act("o", "Its topic", f"kcli topics describe {quoted(at.topic)}", lambda: page.go(routes.Topic(at.topic))),
        *elect_all(page),
    ]
