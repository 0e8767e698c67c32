"""The topics and groups that a command means: names, and patterns looked up in the cluster.

Imported by administration commands only. Without a pattern nothing is asked.
"""

from __future__ import annotations

from kcli.admin.topics.topics import describe_topics
from kcli.asking.fan_out import good
from kcli.errors import KcliError, UsageError
from kcli.text.names import Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.cli.parsing.groups import PatternOptions
    from kcli.model import Cluster
    from kcli.text.names import NamePattern

OWN = "_"
"""How the names begin of topics that belong to tools, such as _schemas; those of Kafka itself begin with two."""


def names_of(options: PatternOptions, words: Iterable[str]) -> Names:
    """The names and patterns of a line. Raises UsageError for a pattern that is not valid."""
    return Names(words, literal=options.literal)


async def topic_names(
    cluster: Cluster, names: Names, *, changes: bool = False, internal: bool = False, empty: bool = False
) -> list[str]:
    """The topics meant. A pattern matches internal topics with `internal`, or where it begins with __ itself; for what
    `changes` topics never, and a topic such as _schemas only where the pattern begins with _, too. Raises NoMatch for
    a pattern that matches nothing, unless `empty`."""
    if not names.patterns:
        return names.words
    topics = await describe_topics(cluster)
    of_kafka = {name for name, topic in good(topics).items() if topic.internal}

    def hidden(name: str, pattern: NamePattern) -> bool:
        if changes:
            return name in of_kafka or (name.startswith(OWN) and not pattern.begins(OWN))
        return name in of_kafka and not (internal or pattern.begins("__"))

    match = names.among(topics, hidden)
    if match.unmatched and not empty:
        raise match.refusal("topic")
    return match.names


async def group_names_of(cluster: Cluster, names: Names, *, changes: bool = False, empty: bool = False) -> list[str]:
    """The groups meant. For what `changes` groups a pattern matches those of kcli's own progress only where it begins
    as they do. Raises NoMatch for a pattern that matches nothing, unless `empty`; KcliError where brokers do not list
    their groups and a change would leave some out."""
    from kcli.admin.groups.groups import match_groups  # topics need none of it

    match, failed = await match_groups(cluster, names, own=not changes)
    if failed and (changes or match.unmatched):
        node, error = next(iter(failed.items()))
        raise KcliError(f"{', '.join(names.patterns)}: broker {node} did not list its groups: {error}")
    if match.unmatched and not empty:
        raise match.refusal("group")
    return match.names


async def one_group(cluster: Cluster, names: Names) -> str:
    """The one group that a name or a pattern means. Raises UsageError where a pattern matches several."""
    found = await group_names_of(cluster, names)
    if len(found) > 1:
        shown = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        raise UsageError(f"{names.words[0]}: {len(found)} groups match ({shown}): choose one")
    return found[0]
