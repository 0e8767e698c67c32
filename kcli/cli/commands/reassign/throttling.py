"""What every end of a move does: no throttle is left behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kcli.admin.configs import Operation, Resource
from kcli.admin.configs import about as about_resource
from kcli.admin.reassign.reassignments import list_reassignments
from kcli.admin.reassign.throttles import DISK_RATE, clear_throttles, find_throttles, set_throttle
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.cli.output.tables.document import Document
from kcli.cli.parsing.groups import QuietOptions
from kcli.cli.parsing.option import Options
from kcli.cli.runtime.answer import plural, say
from kcli.errors import KcliError
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated

    import typer


class RateOptions(Options):
    """How fast replicas are copied."""

    throttle: Annotated[
        str | None,
        typer.Option(
            "--throttle",
            metavar="RATE",
            help="Limit copying to this many bytes per second on each broker, such as "
            "50MiB. Removed when all moves are done.",
        ),
    ] = None


class KeepThrottleOptions(Options):
    """What becomes of throttles."""

    keep_throttle: Annotated[bool, typer.Option("--preserve-throttles", "--keep-throttle", help="Keep throttles.")] = (
        False
    )


Throttles = dict[Resource, dict[str, str]]


async def settle_throttle(
    cluster: Cluster, document: Document, changes: Mapping[Resource, Sequence[Operation]]
) -> bool:
    """Set it everywhere; where that fails it is taken away again everywhere, and the document says why."""
    failed = {at: problem for at, problem in (await set_throttle(cluster, changes)).items() if problem is not None}
    if not failed:
        return True
    for at, problem in failed.items():
        document.fail(problem, about_resource(at))
    done = {at: [operation.name for operation in operations] for at, operations in changes.items() if at not in failed}
    for at, left in (await clear_throttles(cluster, done)).items():
        if left is not None:
            document.fail(left, about_resource(at))
    return False


async def clean(
    cluster: Cluster,
    options: QuietOptions,
    document: Document,
    topics: Iterable[str] | None,
    *,
    quiet: bool = False,
    though_moving: bool = False,
    known: Mapping[Resource, Iterable[str]] | None = None,
) -> bool:
    """Take away the throttles of these topics (None: of all) and of all brokers, and those that are `known` though no
    broker may tell of them yet, if nothing moves any more. Whether they are gone."""
    if not though_moving and await list_reassignments(cluster):
        if not quiet:
            say(options, "moves are in progress, so the throttles stay; `kcli reassign verify --wait` removes them")
        return False
    there = [name for name, topic in (await describe_topics(cluster, topics)).items() if isinstance(topic, Topic)]
    throttled, failed = await find_throttles(cluster, there, [node.id for node in await cluster.nodes()])
    left = {at: set(names) for at, names in _between_brokers(throttled).items()}
    for at, names in (known or {}).items():
        if at.kind != "topic" or at.name in there:
            left.setdefault(at, set()).update(names)
    done = await clear_throttles(cluster, left)
    for at, problem in [*failed.items(), *((at, error) for at, error in done.items() if error is not None)]:
        document.fail(KcliError(f"{about_resource(at)}: its throttle may still be set: {problem}"), about_resource(at))
    if left:
        say(options, f"throttles removed from {_named(left)}")
    return not document.errors


def _between_brokers(throttled: Throttles) -> Throttles:
    """Without those of moves between disks, which end for themselves."""
    return {at: names for at, some in throttled.items() if (names := {k: v for k, v in some.items() if k != DISK_RATE})}


def _named(resources: Iterable[Resource]) -> str:
    kinds = [at.kind for at in resources]
    topics, brokers = kinds.count("topic"), len(kinds) - kinds.count("topic")
    return " and ".join(plural(count, what) for count, what in ((topics, "topic"), (brokers, "broker")) if count)
