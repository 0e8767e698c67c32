"""`kcli reassign disks`: replicas from one log directory of a broker to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.storage.disk_plan import evened
from kcli.admin.storage.disks import Replica
from kcli.admin.storage.log_dirs import LogDir, log_dirs
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.commands.reassign.disks_moving import move
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, confirm, excluding, plural, say
from kcli.errors import UsageError
from kcli.grammar.units import bytes_of
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

Moves = dict[Replica, str]


def disks(values: Values) -> int:
    """`kcli reassign disks`."""
    scope, brokers = Scope(values["words"]), _brokers(values)
    if values["to"] is None and values["away"] is None and not values["even"]:
        raise UsageError("where to? --to PATH, --from PATH, or --balance")
    if values["even"] and (values["to"] or values["away"]):
        raise UsageError("--balance chooses the directories itself; --to and --from do not go with it")
    rate = None if values["throttle"] is None else int(bytes_of(values["throttle"], "--throttle"))
    if rate is not None and not values["wait"]:
        raise UsageError("--throttle goes with --wait here, so that it is taken away again")
    excluding(values)

    async def work(cluster: Cluster, document: Document) -> int | None:
        if scope.topics:
            await scope.partitions(cluster, ())  # whoever mistyped a name shall not believe that it is there already
        places = await _places(cluster, document, brokers)
        wanted = _wanted(places, scope, values)
        rows = {at: row for at, row in _rows(places).items() if at in wanted}
        for at, row in rows.items():
            row["new"] = wanted[at]
        document.rows["replicas"] = list(rows.values())
        if not rows and not document.errors:
            say(values, "nothing to do")
        if values["dry_run"] or not rows or document.errors:
            return None
        if not confirm(values, document, f"move {plural(len(rows), 'replica')}"):
            document.rows.clear()
            return 1
        return await move(cluster, document, values, wanted, rows, rate)

    return answer(values, "reassign.disks", work)


def _brokers(values: Values) -> list[int] | None:
    for word in values["brokers"]:
        if not word.isdecimal():
            raise UsageError(f"--broker {word}: a broker is named by its id, such as 1")
    return [int(word) for word in values["brokers"]] or None


async def _places(cluster: Cluster, document: Document, brokers: list[int] | None) -> list[LogDir]:
    places, failed = await log_dirs(cluster, brokers=brokers)
    for broker, problem in failed.items():
        document.fail(problem, f"broker {broker}")
    for place in places:
        if place.error is not None:
            document.fail(place.error, place.directory)
    return [place for place in places if place.error is None]


def _rows(places: list[LogDir]) -> dict[Replica, Row]:
    return {
        Replica(one.topic, one.partition, one.broker): {
            "broker": one.broker, "topic": one.topic, "partition": one.partition, "old": place.directory, "new": None,
            "bytes": one.size, "result": "would move", "error": None,
        }
        for place in places
        for one in place.replicas
        if not one.future
    }  # fmt: skip


def _wanted(places: list[LogDir], scope: Scope, values: Values) -> Moves:
    """What goes where. Raises UsageError for a directory that a broker has not, and for the only one."""
    found: Moves = {}
    for broker in dict.fromkeys(place.broker for place in places):
        mine = [place for place in places if place.broker == broker]
        names = [place.directory for place in mine if not place.cordoned]
        for name in (values["to"], values["away"]):
            if name is not None and name not in [place.directory for place in mine]:
                raise UsageError(f"broker {broker} has no directory {name}; it has {', '.join(names)}")
        some = {
            Replica(one.topic, one.partition, one.broker): (place.directory, one.size)
            for place in mine
            for one in place.replicas
            if scope.has(TopicPartition(one.topic, one.partition)) and not one.future
            if values["away"] in (None, place.directory)
        }
        if values["even"]:
            found |= evened(mine, some)
        elif values["to"] is not None:
            found |= {at: values["to"] for at, (name, _) in some.items() if name != values["to"]}
        else:
            found |= _emptied(mine, some, values["away"])
    return found


def _emptied(mine: list[LogDir], some: dict[Replica, tuple[str, int]], away: str) -> Moves:
    """Everything to the other directories, always to the emptiest, the largest first."""
    sizes = {place.directory: place.size for place in mine if place.directory != away and not place.cordoned}
    if not sizes:
        raise UsageError(f"broker {mine[0].broker} has no other directory than {away}")
    found: Moves = {}
    for at, (_, size) in sorted(some.items(), key=lambda one: (-one[1][1], one[0])):
        found[at] = min(sizes, key=lambda name: (sizes[name], name))
        sizes[found[at]] += size
    return found
