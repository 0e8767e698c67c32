"""`kcli configs`: list, get, diff; and set, delete, append, subtract, restore with a plan that the broker checked."""

from __future__ import annotations

from kcli.admin.configs.resources import (
    APPEND,
    DELETE,
    KINDS,
    SET,
    SUBTRACT,
    Config,
    Operation,
    Resource,
    about,
    alter_configs,
    describe_configs,
    foreseen,
    list_resources,
    own,
    resource,
)
from kcli.admin.topics.topics import describe_topics
from kcli.cli.commands.configs import undo as configs_undo
from kcli.cli.commands.configs.typed import mistyped, nearest, pair
from kcli.cli.runtime.answer import answer, confirm, excluding, say
from kcli.cli.runtime.undo import UndoFile
from kcli.errors import KcliError, UsageError
from kcli.secret import secretive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.output.render import Document
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values
    from kcli.model import Cluster

    Plan = dict[Resource, list[Operation]]

DIFFERS = 3
WOULD = "would change"
DEFAULT = "default"  # of all brokers, as kafka-configs calls it


def list_all(values: Values) -> int:
    """`kcli configs list KIND`."""
    words = values["words"]
    if len(words) != 1:
        raise UsageError(f"of which kind? {', '.join(KINDS)}")
    resource(words[0], "0" if words[0] in ("broker", "logger") else "")

    async def work(cluster: Cluster, document: Document) -> None:
        names = await _names(cluster, words[0])
        found = await describe_configs(cluster, [Resource(words[0], name) for name in names])
        rows = document.rows["resources"] = []
        for at, configs in found.items():
            if isinstance(configs, KcliError):
                document.fail(configs, about(at))
            else:
                count = sum(own(at, one) for one in configs)
                rows.append({"kind": at.kind, "name": at.name or DEFAULT, "configs": count})

    return answer(values, "configs.list", work)


async def _names(cluster: Cluster, kind: str) -> list[str]:
    if kind == "topic":
        return list(await describe_topics(cluster, None, internal=False))
    if kind in ("broker", "logger"):
        return [str(node.id) for node in await cluster.nodes()]
    return await list_resources(cluster, kind)


def get(values: Values) -> int:
    """`kcli configs get KIND NAME [KEY...]`."""
    at, names = _named(values, 2)

    async def work(cluster: Cluster, document: Document) -> None:
        configs = (await describe_configs(cluster, [at], names=names, documentation=values["docs"]))[at]
        if isinstance(configs, KcliError):
            document.fail(configs, about(at))
            return
        shown = [one for one in configs if names or values["all"] or own(at, one)]
        document.rows["configs"] = [_row(at, one) for one in shown]
        if not shown and not names:
            say(values, f"{about(at)} has nothing set; what holds for it: --all")
        known = {one.name for one in configs}
        for name in names:
            if name not in known:
                hint = await nearest(cluster, at, name) or "; all of them: --all"
                document.fail(KcliError(f"{about(at)} has no config {name}{hint}"), name)

    return answer(values, "configs.get", work)


def _row(at: Resource, one: Config) -> Row:
    return {
        "kind": at.kind,
        "name": at.name or DEFAULT,
        "config": one.name,
        "value": one.value,
        "source": one.source,
        "inherited": one.inherited,
        "type": one.kind or None,
        "secret": one.secret,
        "read_only": one.read_only,
        "documentation": one.documentation or None,
    }


def diff(values: Values) -> int:
    """`kcli configs diff KIND NAME [OTHER]`."""
    at, others = _named(values, 2)
    if len(others) > 1:
        raise UsageError("compare one with another: kcli configs diff KIND NAME [OTHER]")
    other = resource(at.kind, _name(at.kind, others[0])) if others else None

    async def work(cluster: Cluster, document: Document) -> int | None:
        found = await describe_configs(cluster, [at, *([other] if other else [])])
        for one, configs in found.items():
            if isinstance(configs, KcliError):
                document.fail(configs, about(one))
        if document.errors:
            return None
        mine = _known(found[at])
        if other is None:
            pairs = {name: (one.value, one.inherited) for name, one in mine.items() if own(at, one)}
        else:
            theirs = _known(found[other])
            both = {name: (mine.get(name), theirs.get(name)) for name in sorted(mine.keys() | theirs.keys())}
            pairs = {name: (a.value if a else None, b.value if b else None) for name, (a, b) in both.items()}
        rows = [{"config": name, "value": a, "other": b} for name, (a, b) in pairs.items() if a != b]
        document.rows["configs"] = rows
        return DIFFERS if rows else None

    return answer(values, "configs.diff", work)


def _known(configs: list[Config] | KcliError, *, secrets: bool = False) -> dict[str, Config]:
    return {} if isinstance(configs, KcliError) else {one.name: one for one in configs if secrets or not one.secret}


# -- changes ----------------------------------------------------------------------------------------------------------


def set(values: Values) -> int:
    """`kcli configs set KIND NAME KEY=VALUE...`."""
    return _assigned(values, SET)


def append(values: Values) -> int:
    """`kcli configs append KIND NAME KEY=VALUE...`."""
    return _assigned(values, APPEND)


def subtract(values: Values) -> int:
    """`kcli configs subtract KIND NAME KEY=VALUE...`."""
    return _assigned(values, SUBTRACT)


def delete(values: Values) -> int:
    """`kcli configs delete KIND NAME KEY...`."""
    at, names = _named(values, 3)
    return _change(values, "configs.delete", {at: [Operation(name=name, how=DELETE) for name in names]})


def restore(values: Values) -> int:
    """`kcli configs restore FILE`."""
    if len(values["words"]) != 1:
        raise UsageError("from which file? kcli configs restore FILE")
    return _change(values, "configs.restore", configs_undo.read(values["words"][0]))


def _assigned(values: Values, how: int) -> int:
    at, pairs = _named(values, 3)
    operations = []
    for text in pairs:
        name, value = pair(text)
        operations.append(Operation(name=name, how=how, value=value))
    twice = {one.name for one in operations if sum(other.name == one.name for other in operations) > 1}
    if twice:
        raise UsageError(f"{', '.join(sorted(twice))}: named twice")
    verb = {SET: "set", APPEND: "append", SUBTRACT: "subtract"}[how]
    return _change(values, f"configs.{verb}", {at: operations})


def _change(values: Values, name: str, plan: Plan) -> int:
    """The plan with old and new, checked by the broker; then, if it may be, the change."""
    excluding(values)
    UndoFile(values).check()

    async def work(cluster: Cluster, document: Document) -> int | None:
        before = await describe_configs(cluster, plan)
        rows = document.rows["configs"] = []
        checked = await mistyped(cluster, plan, before, await alter_configs(cluster, plan, dry_run=True))
        ready: Plan = {}
        for at, operations in plan.items():
            old, problem = before[at], checked[at]
            if isinstance(old, KcliError):
                problem = old
            known = {} if isinstance(old, KcliError) else {one.name: one for one in old}
            planned = [_planned(at, one, known.get(one.name), problem) for one in operations]
            rows += planned
            if problem is not None:
                document.fail(problem, about(at))
            else:
                ready[at] = operations
        idle = not any(row["result"] == WOULD for row in rows)
        if idle and not document.errors:
            say(values, "there is nothing to change")
        if values["dry_run"] or not ready or (idle and not values["execute"]):
            return None
        names = [at.name or DEFAULT for at in ready]
        if not confirm(values, document, names[0] if len(names) == 1 else f"change {len(names)} resources"):
            document.rows.clear()
            return 1
        await configs_undo.keep(values, cluster, configs_undo.before(values, ready, before))
        done = await alter_configs(cluster, ready)
        for row in rows:
            at = Resource(row["kind"], "" if row["name"] == DEFAULT else row["name"])
            if at not in done:
                continue
            problem = done[at]
            if problem is not None:
                row["result"], row["error"] = "failed", str(problem)
            elif row["result"] == WOULD:
                row["result"] = "done"
        for at, problem in done.items():
            if problem is not None:
                document.fail(problem, about(at))
        if not idle:  # what is so already was sent too: a broker may be late to tell what is
            say(values, f"configs: {sum(row['result'] == 'done' for row in rows)} changed")
        return None

    return answer(values, name, work)


def _planned(at: Resource, one: Operation, old: Config | None, problem: KcliError | None) -> Row:
    """A row of the plan: what is, and what will be as far as that can be said."""
    was = old.value if old is not None else None
    new, same = foreseen(at, one, old)
    secret = old.secret if old is not None else secretive(one.name)
    return {
        "kind": at.kind,
        "name": at.name or DEFAULT,
        "config": one.name,
        "old": "***" if old is not None and secret else was,
        "new": "***" if secret and one.how == SET else new,
        "result": "failed" if problem is not None else "unchanged" if same else WOULD,
        "error": None if problem is None else str(problem),
    }


def _named(values: Values, least: int) -> tuple[Resource, list[str]]:
    """KIND and NAME of a line, and what stands behind them."""
    words = values["words"]
    if len(words) < least:
        raise UsageError("say of what, and what: KIND NAME" + (" KEY" if least > 2 else ""))
    if not words[1]:
        raise UsageError(f"'' names no {words[0]}" + ("; default means all" if words[0] == "broker" else ""))
    return resource(words[0], _name(words[0], words[1])), list(dict.fromkeys(words[2:]))


def _name(kind: str, word: str) -> str:
    return "" if kind == "broker" and word == DEFAULT else word
