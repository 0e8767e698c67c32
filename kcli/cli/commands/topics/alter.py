"""`kcli topics alter`: more partitions and other configs, after a plan that the broker has checked."""

from __future__ import annotations

from kcli.admin.configs.resources import DELETE, SET, Operation, Resource, alter_configs, describe_configs, foreseen
from kcli.admin.topics.partitions import grow_topics
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.asking.fan_out import bad
from kcli.cli.commands.configs import undo as configs_undo
from kcli.cli.commands.configs.typed import mistyped, pair
from kcli.cli.runtime.answer import answer, confirm, excluding, missing, plural, say, words_of
from kcli.cli.runtime.undo import UndoFile
from kcli.errors import KcliError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.admin.configs.resources import Config
    from kcli.cli.output.render import Document
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values
    from kcli.model import Cluster

    Configs = dict[Resource, list[Config] | KcliError]


def alter(values: Values) -> int:
    """`kcli topics alter TOPIC...`."""
    topics, operations = words_of(values, "TOPIC"), _operations(values)
    count: int | None = values["partitions"]
    if count is None and not operations:
        raise UsageError("what shall change? -p N, --config KEY=VALUE, --delete-config KEY")
    excluding(values)
    UndoFile(values).check()

    async def work(cluster: Cluster, document: Document) -> int | None:
        found = await describe_topics(cluster, topics)
        there = {name: one for name, one in found.items() if isinstance(one, Topic)}
        for name, one in found.items():
            if isinstance(one, KcliError):
                missing(document, name, one, await describe_topics(cluster, internal=False))
        growing = {name: count for name, one in there.items() if count is not None and count != len(one.partitions)}
        changes = {Resource("topic", name): operations for name in there} if operations else {}
        before = await describe_configs(cluster, changes) if changes else {}
        rows = document.rows["changes"] = _plan(there, count, changes, before)
        refused = {**await grow_topics(cluster, growing, dry_run=True)}
        checked = await alter_configs(cluster, changes, dry_run=True) if changes else {}
        checked = await mistyped(cluster, changes, before, checked)
        checked |= bad(before)  # what is not known cannot be taken back
        _settle(rows, refused, checked, document, done="")
        open_rows = sum(row["result"] == "would change" for row in rows)
        if document.errors and open_rows and not values["dry_run"]:
            say(values, "nothing was changed: not all of the plan can be")
        if document.errors or values["dry_run"] or not open_rows:
            return None
        names = sorted(there)
        if not confirm(values, document, names[0] if len(names) == 1 else f"alter {plural(len(names), 'topic')}"):
            document.rows.clear()
            return 1
        if changes:
            await configs_undo.keep(values, cluster, configs_undo.before(values, changes, before))
        grown = await grow_topics(cluster, growing)
        altered = await alter_configs(cluster, changes) if changes else {}
        _settle(rows, grown, altered, document, done="done")
        return None

    return answer(values, "topics.alter", work)


def _operations(values: Values) -> list[Operation]:
    found = []
    for text in values["configs"]:
        name, value = pair(text, "--config")
        found.append(Operation(name=name, how=SET, value=value))
    found += [Operation(name=name, how=DELETE) for name in values["delete_configs"]]
    twice = {one.name for one in found if sum(other.name == one.name for other in found) > 1}
    if twice:
        raise UsageError(f"{', '.join(sorted(twice))}: named twice")
    return found


def _plan(
    topics: dict[str, Topic], count: int | None, changes: dict[Resource, list[Operation]], before: Configs
) -> list[Row]:
    rows: list[Row] = []
    for name, topic in topics.items():
        if count is not None:
            have = len(topic.partitions)
            same = have == count
            rows.append(_row(name, "partitions", str(have), str(count), "unchanged" if same else "would change"))
        at = Resource("topic", name)
        known = _known(before.get(at))
        for one in changes.get(at, []):
            old = known.get(one.name)
            new, same = foreseen(at, one, old)
            was = old.value if old is not None else None
            rows.append(_row(name, one.name, was, new, "unchanged" if same else "would change"))
    return rows


def _row(topic: str, what: str, old: str | None, new: str | None, result: str) -> Row:
    return {"topic": topic, "config": what, "old": old, "new": new, "result": result, "error": None}


def _known(configs: list[Config] | KcliError | None) -> dict[str, Config]:
    return {one.name: one for one in configs} if isinstance(configs, list) else {}


def _settle(
    rows: list[Row],
    partitions: dict[str, KcliError | None],
    configs: dict[Resource, KcliError | None],
    document: Document,
    *,
    done: str,
) -> None:
    """What became of each row; an error of a topic stands in the document once."""
    for row in rows:
        outcomes = partitions if row["config"] == "partitions" else {at.name: one for at, one in configs.items()}
        if row["topic"] not in outcomes:
            continue
        problem = outcomes[row["topic"]]
        if problem is not None:
            row["result"], row["error"] = "failed", str(problem)
        elif done and row["result"] == "would change":
            row["result"] = done
    for name, problem in [*partitions.items(), *((at.name, one) for at, one in configs.items())]:
        if problem is not None:
            document.fail(problem, name)
