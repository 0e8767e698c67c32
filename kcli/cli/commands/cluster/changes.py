"""`kcli cluster features set|upgrade|downgrade` and `unregister`: with a plan, which brokers check where they can."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.cluster.brokers import look_at_brokers
from kcli.admin.cluster.changes import (
    SAFE_DOWNGRADE,
    UNSAFE_DOWNGRADE,
    UPGRADE,
    unregister_broker,
    update_features,
)
from kcli.admin.cluster.quorum import Feature, features
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, confirm, excluding, plural, say, words_of
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

HOW = {UPGRADE: "upgrade", SAFE_DOWNGRADE: "downgrade", UNSAFE_DOWNGRADE: "unsafe downgrade"}


# -- features ---------------------------------------------------------------------------------------------------------


def set_features(values: Values) -> int:
    """`kcli cluster features set FEATURE=LEVEL...`."""
    return _features(values, "set", _levels(values))


def upgrade_features(values: Values) -> int:
    """`kcli cluster features upgrade [FEATURE[=LEVEL]...]`; without a level to the highest there is."""
    return _features(values, "upgrade", _levels(values, highest=True))


def downgrade_features(values: Values) -> int:
    """`kcli cluster features downgrade FEATURE=LEVEL...`."""
    return _features(values, "downgrade", _levels(values))


def _levels(values: Values, *, highest: bool = False) -> dict[str, int | None]:
    """FEATURE=LEVEL; None is the highest. Raises UsageError."""
    found: dict[str, int | None] = {}
    for word in values["words"]:
        name, equals, level = word.partition("=")
        if not name or (not equals and not highest):
            raise UsageError(f"{word}: expected FEATURE=LEVEL, such as transaction.version=2")
        if equals and not (level.isascii() and level.isdecimal() and int(level) < 1 << 15):
            raise UsageError(f"{word}: a level is a whole number; 0 switches the feature off")
        if name in found:
            raise UsageError(f"{name} is named twice")
        found[name] = int(level) if equals else None
    if not found and not highest:
        raise UsageError("name features with their levels: FEATURE=LEVEL")
    return found


def _features(values: Values, verb: str, wanted: dict[str, int | None]) -> int:
    excluding(values)

    async def work(cluster: Cluster, document: Document) -> int | None:
        known = {one.name: one for one in await features(cluster)}
        rows = document.rows["features"] = []
        changes: dict[str, tuple[int, int]] = {}
        for name, level in (wanted or dict.fromkeys(known)).items():
            row, change = _planned(verb, name, level, known.get(name), bool(values.get("unsafe")))
            rows.append(row)
            if row["result"] == "failed":
                document.fail(_unknown(row["error"], name, known), name)
            if change is not None:
                changes[name] = change
        if document.errors:  # all or nothing, as the brokers have it
            return None
        if not await _done(cluster, document, rows, changes, "would change", dry_run=True) or values["dry_run"]:
            return None
        if not changes:
            say(values, "every feature is there already")
            return None
        phrase = next(iter(changes)) if len(changes) == 1 else f"change {len(changes)} features"
        if not confirm(values, document, phrase):
            document.rows.clear()
            return 1
        if await _done(cluster, document, rows, changes, "done", dry_run=False):
            say(values, f"{plural(len(changes), 'feature')} changed; to go back: {_back(rows)}")
        return None

    return answer(values, f"cluster.features.{verb}", work)


def _planned(
    verb: str, name: str, level: int | None, now: Feature | None, unsafe: bool
) -> tuple[Row, tuple[int, int] | None]:
    """A row of the plan, and what is to be sent; None where nothing is."""
    row: Row = {"feature": name, "old": None, "new": level, "how": None, "result": "failed", "error": None}
    if now is None:
        return {**row, "error": f"there is no feature {name}"}, None
    old = now.level or 0
    new = now.highest if level is None else level
    row |= {"old": old, "new": new}
    if new == old or (level is None and new < old):
        return {**row, "new": old, "result": "unchanged"}, None
    how = UPGRADE if new > old else UNSAFE_DOWNGRADE if unsafe else SAFE_DOWNGRADE
    if verb != "set" and (verb == "upgrade") != (how == UPGRADE):
        return {**row, "error": f"{name} is at {old}, so {new} is no {verb}"}, None
    return {**row, "how": HOW[how], "result": "would change"}, (new, how)


def _unknown(text: str, name: str, known: dict[str, Feature]) -> KcliError:
    if name in known:
        return KcliError(text)
    from kcli.text.suggest import did_you_mean

    return KcliError(f"{text}{did_you_mean(name, known) or '; there are ' + ', '.join(known)}")


async def _done(
    cluster: Cluster, document: Document, rows: list[Row], changes: dict[str, tuple[int, int]], result: str, *,
    dry_run: bool,
) -> bool:  # fmt: skip
    """Check or do it, and write into the rows what became of it. Whether all went well."""
    told = await update_features(cluster, changes, dry_run=dry_run) if changes else {}
    for row in rows:
        if row["feature"] in told:
            problem = told[row["feature"]]
            row["result"], row["error"] = (result, None) if problem is None else ("failed", str(problem))
    for problem in {str(one): one for one in told.values() if one is not None}.values():
        document.fail(problem, "features")
    return not document.errors


def _back(rows: list[Row]) -> str:
    words = " ".join(f"{row['feature']}={row['old']}" for row in rows if row["result"] == "done")
    return f"kcli cluster features set {words} --execute"


# -- brokers ----------------------------------------------------------------------------------------------------------


def unregister(values: Values) -> int:
    """`kcli cluster unregister BROKER...`."""
    from kcli.cli.commands.cluster.command import broker_ids

    excluding(values)
    ids = sorted(broker_ids(words_of(values, "broker")))

    async def work(cluster: Cluster, document: Document) -> int | None:
        found = {row.node.id: row for row in await look_at_brokers(cluster, figures=False)}
        topics = [one for one in (await describe_topics(cluster, None)).values() if isinstance(one, Topic)]
        parts = [part for one in topics for part in one.partitions]
        rows = document.rows["brokers"] = []
        for number in ids:
            known = found.get(number)
            row: Row = {
                "broker": number,
                "host": None if known is None else known.node.host,
                "port": None if known is None else known.node.port,
                "state": None if known is None else "fenced" if known.fenced else "up",
                "replicas": sum(number in part.replicas for part in parts),
                "result": "would unregister",
                "error": None,
            }
            rows.append(row)
            problem = _objection(number, row, values["force"], sorted(found))
            if problem:
                row["result"], row["error"] = "failed", problem
                document.fail(KcliError(problem), f"broker {number}")
        ready = [row for row in rows if row["result"] != "failed"]
        if values["dry_run"] or not ready:
            return None
        phrase = f"broker {ready[0]['broker']}" if len(ready) == 1 else f"unregister {len(ready)} brokers"
        if not confirm(values, document, phrase):
            document.rows.clear()
            return 1
        for row in ready:
            await _forgotten(cluster, document, row)
        return None

    return answer(values, "cluster.unregister", work)


def _objection(number: int, row: Row, force: bool, known: list[int]) -> str:
    """Why it had better stay, "" for nothing."""
    if row["state"] is None:
        return f"no broker {number} is registered; there are {', '.join(map(str, known))}"
    if row["state"] == "up" and not force:
        return f"broker {number} is up: stop it first, or it will be left without a registration (--force does it)"
    return ""


async def _forgotten(cluster: Cluster, document: Document, row: Row) -> None:
    try:
        await unregister_broker(cluster, row["broker"])
        row["result"] = "done"
    except KcliError as problem:
        row["result"], row["error"] = "failed", str(problem)
        document.fail(problem, f"broker {row['broker']}")
