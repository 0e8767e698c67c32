"""The places of the dashboard by name: what `:` and the command line offer, and the screen of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.screen import Screen

    from kcli.lag.watch import Look

NAMES = "groups, group NAME, topics, topic NAME, records TOPIC…, brokers, broker ID, faults"


def places(look: Look | None) -> list[str]:
    """What can be typed, for completion."""
    groups = [one.described.group for one in look.groups] if look is not None else []
    topics = sorted({part.lag.sample.topic for one in look.groups for part in one.partitions}) if look else []
    return [
        "groups",
        "topics",
        "brokers",
        "faults",
        *(f"group {name}" for name in groups),
        *(f"topic {name}" for name in topics),
        *(f"records {name}" for name in topics),
    ]


def find(text: str) -> Screen[Any] | None:
    """The screen that a line names; None if there is none."""
    word, _, name = text.strip().partition(" ")
    name, rest = name.strip(), name.split()
    match word, rest:
        case "groups", []:
            from kcli.tui.screens.groups import Groups

            return Groups()
        case "group", [_, *_]:  # a group's name may have spaces in it
            from kcli.tui.screens.group import Group

            return Group(name)
        case "topics", []:
            from kcli.tui.screens.topics import Topics

            return Topics()
        case "topic", [name]:
            from kcli.tui.screens.topic import Topic

            return Topic(name)
        case "brokers", []:
            from kcli.tui.screens.brokers import Brokers

            return Brokers()
        case "broker", [number] if number.isascii() and number.isdigit():
            from kcli.tui.screens.broker import Broker

            return Broker(int(number))
        case "faults", []:
            from kcli.tui.screens.faults import Faults

            return Faults()
        case (("records" | "tail"), [_, *_]):
            from kcli.tui.screens.records import Records

            return Records(rest)
    return None
