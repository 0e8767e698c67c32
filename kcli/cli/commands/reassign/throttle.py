"""`kcli reassign throttle`: throttles shown, changed and removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.configs import Resource, whole_number
from kcli.admin.configs import about as about_resource
from kcli.admin.reassign.throttles import find_throttles
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.changes import moves
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.runtime.answer import say
from kcli.cli.runtime.change import PlannedChange, make_change, of_plan
from kcli.errors import UsageError
from kcli.grammar.units import bytes_of, bytes_text
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated

    import typer

NONE = "no replication throttle is set"


class ThrottleRow(Row, section="throttles"):
    kind: str = column("topic or broker.", unit="word")
    name: str = column("The topic or the id of the broker.", rank=1)
    config: str = column("Name of the config.", rank=1)
    old: str | None = column("Its value before; a rate has a unit.", rank=1, width=10)
    new: str | None = column("New value; null if it is removed or stays.", sparse=True, rank=1, width=10)
    result: str = column("set, would change, unchanged, done, failed or unknown.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("reassign.throttle", "Replication throttles, one per row.", ThrottleRow)


class ThrottleOptions(ChangeOptions):
    remove: Annotated[bool, typer.Option("--remove", help="Remove all throttles.")] = False


@command(
    "reassign throttle",
    help="Show, change or remove the throttles of moves.",
    words="RATE",
    examples="""
kcli reassign throttle
kcli reassign throttle 100MiB --execute
kcli reassign throttle --remove --execute""",
)
def throttle(options: ThrottleOptions) -> int:
    """Print the replication throttles that are set on topics and brokers. With RATE, limit moves in progress to this
    many bytes per second on each broker; with --remove, remove all throttles. A forgotten throttle slows down replicas
    that catch up.
    """
    words = options.words
    if len(words) > 1 or (words and options.remove):
        raise UsageError("give one RATE, such as 50MiB, or --remove")
    rate = int(bytes_of(words[0], "RATE")) if words else None
    if rate is not None and rate < 1:
        raise UsageError(f"RATE {words[0]}: a limit must be 1 byte per second or more; --remove removes throttles")

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        topics = [name for name, topic in (await describe_topics(cluster)).items() if isinstance(topic, Topic)]
        throttled, failed = await find_throttles(cluster, topics, [node.id for node in await cluster.nodes()])
        for at, problem in failed.items():
            document.fail(problem, about_resource(at))
        if rate is None and not options.remove:
            document.of(ThrottleRow)[:] = [
                _row(at, *config) for at, some in throttled.items() for config in some.items()
            ]
            if not throttled:
                say(options, NONE)
            return None
        made = await moves.plan_throttle(cluster, throttled, rate)
        for row in made.rows:
            row.old, row.new = _shown(row.item, row.old), _shown(row.item, row.new)
        made.failed |= {about_resource(at): problem for at, problem in failed.items()}
        nothing = "nothing to change" if made.rows else NONE
        return of_plan(*(options, document, (ThrottleRow,), cluster, made), names=["throttle"], nothing=nothing)

    return make_change(options, SHAPE, make_plan)


def _row(at: Resource, name: str, value: str) -> ThrottleRow:
    old = _shown(name, value)
    return ThrottleRow(kind=at.kind, name=at.name, config=name, old=old, new=None, result="set", error=None)


def _shown(name: str, value: object) -> str | None:
    text = None if value is None else str(value)
    rate = whole_number(text) if name.endswith(("rate", "second")) else None
    return text if rate is None else f"{bytes_text(rate)}/s"
