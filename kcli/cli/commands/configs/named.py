"""The resource that a command line names: KIND NAME, and the arguments after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.configs import Resource, resource
from kcli.changes.configs import DEFAULT
from kcli.cli.output.tables.rows import Row, column
from kcli.cli.parsing.groups import ControllerOptions, PatternOptions, UndoOptions
from kcli.cli.parsing.option import Options
from kcli.cli.runtime.names import group_names_of, topic_names
from kcli.errors import UsageError
from kcli.model import Cluster
from kcli.text.names import Names, is_pattern

if TYPE_CHECKING:
    from typing import Annotated

    from kcli.cli.parsing.shared import KcliOption

PLURALS = {"topics": "topic", "brokers": "broker", "broker-loggers": "logger", "groups": "group"}
"""Kinds as Kafka's own script calls them, as far as they have other names."""


class EntityOptions(Options):
    """KIND and NAME as Kafka's own script has them."""

    kinds: Annotated[
        list[str],
        KcliOption("--entity-type", metavar="KIND", help="KIND, instead of an argument.", hidden=True, names=True),
    ]
    named: Annotated[
        list[str],
        KcliOption("--entity-name", metavar="NAME", help="NAME, instead of an argument.", hidden=True, names=True),
    ]


class ChangedOptions(PatternOptions, ControllerOptions, UndoOptions):
    """What a command takes that changes configs: NAME can be a pattern for topics or groups."""


class NamedRow(Row):
    """The columns that name a resource."""

    kind: str = column("topic, broker, logger, group or client-metrics.", unit="word")
    name: str = column("Name of the resource; `default` means all brokers.", rank=1)


def named(words: list[str], least: int) -> tuple[Resource, list[str]]:
    """The resource, and the words behind it without repetitions. Raises UsageError for fewer than `least` words."""
    if len(words) < least:
        raise UsageError("missing arguments: KIND NAME" + (" KEY" if least > 2 else ""))
    kind, name, *rest = words
    if not name:
        raise UsageError(f"'' names no {kind}" + ("; default means all" if kind == "broker" else ""))
    return resource_of(kind, name), list(dict.fromkeys(rest))


def resource_of(kind: str, name: str) -> Resource:
    """Raises UsageError."""
    kind = PLURALS.get(kind, kind)
    return resource(kind, "" if kind == "broker" and name == DEFAULT else name)


def has_pattern(at: Resource) -> bool:
    """Whether the name is a pattern, of a kind that has patterns."""
    return at.kind in ("topic", "group") and is_pattern(at.name)


async def meant(cluster: Cluster, at: Resource, *, literal: bool, changes: bool = False) -> list[Resource]:
    """The resources that a line names: one, or the topics or groups that a pattern matches. What `changes` them leaves
    out what `topic_names` and `group_names_of` say. Raises NoMatch."""
    if literal or not has_pattern(at):
        return [at]
    names = Names([at.name])
    if at.kind == "topic":
        return [Resource("topic", name) for name in await topic_names(cluster, names, changes=changes, internal=True)]
    return [Resource("group", name) for name in await group_names_of(cluster, names, changes=changes)]


def name_of(at: Resource) -> str:
    return at.name or DEFAULT
