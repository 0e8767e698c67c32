"""`kcli reassign throttle`: throttles shown, changed and removed."""

from __future__ import annotations

from kcli.admin.configs.resources import DELETE, Operation, Resource, whole_number
from kcli.admin.configs.resources import about as about_resource
from kcli.admin.reassign import throttles
from kcli.admin.reassign.reassignments import list_reassignments
from kcli.admin.reassign.throttles import find_throttles, set_throttle
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.cli.commands.reassign.throttling import Throttles
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.parsing.option import flag
from kcli.cli.runtime.answer import say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError, UsageError
from kcli.grammar.units import bytes_of, bytes_text
from kcli.model import Cluster


class ThrottleRow(Row, section="throttles"):
    kind: str = column("topic or broker.", unit="word")
    name: str = column("The topic or the id of the broker.", rank=1)
    config: str = column("Name of the config.", rank=1)
    old: str | None = column("Its value before; a rate has a unit.", rank=1, width=10)
    new: str | None = column("New value; null if it is removed or stays.", sparse=True, rank=1, width=10)
    result: str = column("set, would change, done or failed.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("reassign.throttle", "Throttles of replication, one a row.", ThrottleRow)


class ThrottleOptions(ChangeOptions):
    remove = flag("--remove", help="Remove all throttles.")


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
    """Print the throttles of replication that are set at topics and brokers; with RATE limit moves in progress
    to this many bytes a second at each broker; with --remove remove all throttles. A forgotten throttle slows down
    replicas that catch up.
    """
    words = options.words
    if len(words) > 1 or (words and options.remove):
        raise UsageError("one RATE, such as 50MiB, or --remove")
    rate = int(bytes_of(words[0], "RATE")) if words else None
    if rate is not None and rate < 1:
        raise UsageError(f"RATE {words[0]}: a limit is 1 byte a second or more; --remove removes throttles")

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        topics = [name for name, topic in (await describe_topics(cluster)).items() if isinstance(topic, Topic)]
        throttled, failed = await find_throttles(cluster, topics, [node.id for node in await cluster.nodes()])
        for at, problem in failed.items():
            document.fail(problem, about_resource(at))
        if rate is None and not options.remove:
            document.of(ThrottleRow)[:] = [
                _row(at, k, v, None, "set") for at, some in throttled.items() for k, v in some.items()
            ]
            if not throttled:
                say(options, "no throttle of replication is set")
            return None
        if rate is None:
            changes = {at: [Operation(name=name, how=DELETE) for name in some] for at, some in throttled.items()}
        else:
            ongoing = await list_reassignments(cluster)
            if not ongoing:
                raise KcliError("nothing moves, so there is nothing to throttle")
            changes = throttles.wanted(throttles.moves({}, {}, ongoing), rate)
        return await _change(cluster, document, options, changes, throttled)

    return make_change(options, SHAPE, make_plan)


async def _change(
    cluster: Cluster,
    document: Document,
    options: ThrottleOptions,
    changes: dict[Resource, list[Operation]],
    throttled: Throttles,
) -> PlannedChange | None:
    rows = {
        (at, operation.name): _row(
            at, operation.name, throttled.get(at, {}).get(operation.name), operation.value, "would change"
        )
        for at, some in changes.items()
        for operation in some
    }
    document.of(ThrottleRow)[:] = rows.values()
    if not rows:
        say(options, "no throttle of replication is set")
    if not rows:
        return None

    async def carry_out() -> int | None:
        done = await set_throttle(cluster, changes)
        for (at, _), row in rows.items():
            problem = done[at]
            row.result, row.error = ("done", None) if problem is None else ("failed", str(problem))
        for at, problem in done.items():
            if problem is not None:
                document.fail(problem, about_resource(at))
        return None

    return PlannedChange(names=["throttle"], carry_out=carry_out)


def _row(at: Resource, name: str, old: str | None, new: str | None, result: str) -> ThrottleRow:
    def shown(value: str | None) -> str | None:
        rate = whole_number(value) if name.endswith(("rate", "second")) else None
        return value if rate is None else f"{bytes_text(rate)}/s"

    return ThrottleRow(
        kind=at.kind,
        name=at.name,
        config=name,
        old=shown(old),
        new=shown(new),
        result=result,
        error=None,
    )
