"""`kcli reassign throttle`, and what every end of a move does: no throttle is left behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kcli.admin.configs.resources import DELETE, Operation, Resource
from kcli.admin.configs.resources import about as about_resource
from kcli.admin.reassign import throttles
from kcli.admin.reassign.reassignments import list_reassignments
from kcli.admin.reassign.throttles import DISK_RATE, clear_throttles, find_throttles, set_throttle
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, confirm, excluding, plural, say
from kcli.errors import KcliError, UsageError
from kcli.grammar.units import bytes_of, bytes_text
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

Found = dict[Resource, dict[str, str]]


async def settle_throttle(
    cluster: Cluster, document: Document, changes: Mapping[Resource, Sequence[Operation]]
) -> bool:
    """Set it everywhere; where that fails it is taken away again everywhere, and the document says why."""
    failed = {at: problem for at, problem in (await set_throttle(cluster, changes)).items() if problem is not None}
    if not failed:
        return True
    for at, problem in failed.items():
        document.fail(problem, about_resource(at))
    done = {at: [one.name for one in some] for at, some in changes.items() if at not in failed}
    for at, left in (await clear_throttles(cluster, done)).items():
        if left is not None:
            document.fail(left, about_resource(at))
    return False


async def clean(
    cluster: Cluster, values: Values, document: Document, topics: Iterable[str] | None, *, quiet: bool = False,
    though_moving: bool = False, known: Mapping[Resource, Iterable[str]] | None = None,
) -> bool:  # fmt: skip
    """Take away the throttles of these topics (None: of all) and of all brokers, and those that are `known` though no
    broker may tell of them yet, if nothing moves any more. Whether they are gone."""
    if not though_moving and await list_reassignments(cluster):
        if not quiet:
            say(values, "something moves still, so throttles stay; `kcli reassign verify --wait` takes them away")
        return False
    there = [name for name, topic in (await describe_topics(cluster, topics)).items() if isinstance(topic, Topic)]
    found, failed = await find_throttles(cluster, there, [node.id for node in await cluster.nodes()])
    left = {at: set(names) for at, names in _between_brokers(found).items()}
    for at, names in (known or {}).items():
        if at.kind != "topic" or at.name in there:
            left.setdefault(at, set()).update(names)
    done = await clear_throttles(cluster, left)
    for at, problem in [*failed.items(), *((at, one) for at, one in done.items() if one is not None)]:
        document.fail(KcliError(f"{about_resource(at)}: its throttle may be left: {problem}"), about_resource(at))
    if left:
        say(values, f"throttles taken away from {_named(left)}")
    return not document.errors


def _between_brokers(found: Found) -> Found:
    """Without those of moves between disks, which end for themselves."""
    return {at: names for at, some in found.items() if (names := {k: v for k, v in some.items() if k != DISK_RATE})}


def _named(found: Iterable[Resource]) -> str:
    kinds = [at.kind for at in found]
    topics, brokers = kinds.count("topic"), len(kinds) - kinds.count("topic")
    return " and ".join(plural(count, what) for count, what in ((topics, "topic"), (brokers, "broker")) if count)


def throttle(values: Values) -> int:
    """`kcli reassign throttle [RATE]`."""
    words = values["words"]
    if len(words) > 1 or (words and values["remove"]):
        raise UsageError("one RATE, such as 50MiB, or --remove")
    rate = int(bytes_of(words[0], "RATE")) if words else None
    if rate is not None and rate < 1:
        raise UsageError(f"RATE {words[0]}: a limit is 1 byte a second or more; --remove takes throttles away")
    excluding(values)

    async def work(cluster: Cluster, document: Document) -> int | None:
        topics = [name for name, one in (await describe_topics(cluster)).items() if isinstance(one, Topic)]
        found, failed = await find_throttles(cluster, topics, [node.id for node in await cluster.nodes()])
        for at, problem in failed.items():
            document.fail(problem, about_resource(at))
        if rate is None and not values["remove"]:
            document.rows["throttles"] = [
                _row(at, k, v, None, "set") for at, some in found.items() for k, v in some.items()
            ]
            if not found:
                say(values, "no throttle of replication is set")
            return None
        if rate is None:
            changes = {at: [Operation(name=name, how=DELETE) for name in some] for at, some in found.items()}
        else:
            ongoing = await list_reassignments(cluster)
            if not ongoing:
                raise KcliError("nothing moves, so there is nothing to throttle")
            changes = throttles.wanted(throttles.moves({}, {}, ongoing), rate)
        return await _change(cluster, document, values, changes, found)

    return answer(values, "reassign.throttle", work)


async def _change(
    cluster: Cluster, document: Document, values: Values, changes: dict[Resource, list[Operation]], found: Found
) -> int | None:
    rows = {
        (at, one.name): _row(at, one.name, found.get(at, {}).get(one.name), one.value, "would change")
        for at, some in changes.items()
        for one in some
    }
    document.rows["throttles"] = list(rows.values())
    if not rows:
        say(values, "no throttle of replication is set")
    if values["dry_run"] or not rows:
        return None
    if not confirm(values, document, "throttle"):
        document.rows.clear()
        return 1
    done = await set_throttle(cluster, changes)
    for (at, _), row in rows.items():
        problem = done[at]
        row["result"], row["error"] = ("done", None) if problem is None else ("failed", str(problem))
    for at, problem in done.items():
        if problem is not None:
            document.fail(problem, about_resource(at))
    return None


def _row(at: Resource, name: str, old: str | None, new: str | None, result: str) -> Row:
    def shown(value: str | None) -> str | None:
        return f"{bytes_text(int(value))}/s" if value and name.endswith(("rate", "second")) else value

    return {
        "kind": at.kind, "name": at.name, "config": name, "old": shown(old), "new": shown(new), "result": result,
        "error": None,
    }  # fmt: skip
