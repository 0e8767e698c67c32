"""`kcli cluster features set`, `upgrade` and `downgrade`: a plan that the controller checks, then all or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.cluster.changes import SAFE_DOWNGRADE, UNSAFE_DOWNGRADE, UPGRADE, update_features
from kcli.admin.cluster.quorum import Feature, features
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.parsing.option import flag
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.cli.output.tables.shape import Shape


class LevelRow(Row, section="features"):
    feature: str = column("Name of the feature.", rank=1)
    old: int | None = column("Its level before; 0 is off.", rank=1)
    new: int | None = column("Its level after.", rank=1)
    action: str | None = column("upgrade, downgrade or unsafe downgrade.", unit="word")
    result: str = column("would change, unchanged, done or failed.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


ABOUT = "Levels of features that were changed, or would be."
SET = shape("cluster.features.set", ABOUT, LevelRow)
UPGRADES = shape("cluster.features.upgrade", ABOUT, LevelRow)
DOWNGRADES = shape("cluster.features.downgrade", ABOUT, LevelRow)

HOW = {UPGRADE: "upgrade", SAFE_DOWNGRADE: "downgrade", UNSAFE_DOWNGRADE: "unsafe downgrade"}


class DowngradeOptions(ChangeOptions):
    """A change that may take levels down."""

    unsafe = flag("--unsafe", help="Allow a downgrade that loses metadata.")


@command(
    "cluster features set",
    help="Set levels of features, up or down.",
    words="FEATURE=LEVEL",
    examples="""
kcli cluster features set transaction.version=2 share.version=1
kcli cluster features set share.version=0 --execute""",
)
def set_features(options: DowngradeOptions) -> int:
    """Set the levels of features; 0 switches one off. The plan comes first, checked by the controller; --execute
    applies it, all of them or none."""
    return _change(options, SET, "set", _levels(options.words), unsafe=options.unsafe)


@command(
    "cluster features upgrade",
    help="Upgrade features to a level, or to the highest.",
    words="FEATURE[=LEVEL]",
    examples="""
kcli cluster features upgrade --dry-run
kcli cluster features upgrade metadata.version --execute
kcli cluster features upgrade transaction.version=2 --execute""",
)
def upgrade_features(options: ChangeOptions) -> int:
    """Raise features to higher levels; without a level to the highest that the broker supports, without names all of
    them. The plan comes first, checked by the controller; --execute applies it.
    """
    return _change(options, UPGRADES, "upgrade", _levels(options.words, highest=True))


@command(
    "cluster features downgrade",
    help="Downgrade features; --unsafe allows a loss of metadata.",
    words="FEATURE=LEVEL",
    examples="""
kcli cluster features downgrade share.version=0
kcli cluster features downgrade transaction.version=1 --execute""",
)
def downgrade_features(options: DowngradeOptions) -> int:
    """Lower the levels of features. What would lose metadata is refused without --unsafe. The plan comes first,
    checked by the controller; --execute applies it.
    """
    return _change(options, DOWNGRADES, "downgrade", _levels(options.words), unsafe=options.unsafe)


def _levels(words: list[str], *, highest: bool = False) -> dict[str, int | None]:
    """FEATURE=LEVEL; None is the highest. Raises UsageError."""
    levels: dict[str, int | None] = {}
    for word in words:
        name, equals, level = word.partition("=")
        if not name or (not equals and not highest):
            raise UsageError(f"{word}: expected FEATURE=LEVEL, such as transaction.version=2")
        if equals and not (level.isascii() and level.isdecimal() and int(level) < 1 << 15):
            raise UsageError(f"{word}: a level is a whole number; 0 switches the feature off")
        if name in levels:
            raise UsageError(f"{name} is named twice")
        levels[name] = int(level) if equals else None
    if not levels and not highest:
        raise UsageError("name features with their levels: FEATURE=LEVEL")
    return levels


def _change(
    options: ChangeOptions, shape: Shape, verb: str, wanted: dict[str, int | None], *, unsafe: bool = False
) -> int:

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        known = {feature.name: feature for feature in await features(cluster)}
        rows = document.of(LevelRow)
        changes: dict[str, tuple[int, int]] = {}
        for name, level in (wanted or dict.fromkeys(known)).items():
            row, change = _planned(verb, name, level, known.get(name), unsafe)
            rows.append(row)
            if row.error is not None:
                document.fail(_unknown(row.error, name, known), name)
            if change is not None:
                changes[name] = change
        if document.errors:  # all or nothing, as the brokers have it
            return None
        if not await _done(cluster, document, rows, changes, "would change", dry_run=True):
            return None
        if not changes:
            say(options, "every feature has that level already")
            return None

        async def carry_out() -> int | None:
            if await _done(cluster, document, rows, changes, "done", dry_run=False):
                say(options, f"{plural(len(changes), 'feature')} changed; to go back: {_back(rows)}")
            return None

        return PlannedChange(names=list(changes), verb="change", noun="feature", carry_out=carry_out)

    return make_change(options, shape, make_plan)


def _planned(
    verb: str, name: str, level: int | None, now: Feature | None, unsafe: bool
) -> tuple[LevelRow, tuple[int, int] | None]:
    """A row of the plan, and what is to be sent; None where nothing is."""
    row = LevelRow(feature=name, old=None, new=level, action=None, result="failed", error=None)
    if now is None:
        row.error = f"unknown feature {name}"
        return row, None
    old = now.level or 0
    new = now.highest if level is None else level
    row.old, row.new = old, new
    if new == old or (level is None and new < old):
        row.new, row.result = old, "unchanged"
        return row, None
    how = UPGRADE if new > old else UNSAFE_DOWNGRADE if unsafe else SAFE_DOWNGRADE
    if verb != "set" and (verb == "upgrade") != (how == UPGRADE):
        row.error = f"{name} is at {old}, so {new} is no {verb}"
        return row, None
    row.action, row.result = HOW[how], "would change"
    return row, (new, how)


def _unknown(text: str, name: str, known: dict[str, Feature]) -> KcliError:
    if name in known:
        return KcliError(text)
    from kcli.text.suggest import did_you_mean

    return KcliError(f"{text}{did_you_mean(name, known) or '; known: ' + ', '.join(known)}")


async def _done(
    cluster: Cluster,
    document: Document,
    rows: list[LevelRow],
    changes: dict[str, tuple[int, int]],
    result: str,
    *,
    dry_run: bool,
) -> bool:
    """Check or do it, and write into the rows what became of it. Whether all went well."""
    outcomes = await update_features(cluster, changes, dry_run=dry_run) if changes else {}
    for row in rows:
        if row.feature in outcomes:
            problem = outcomes[row.feature]
            row.result, row.error = (result, None) if problem is None else ("failed", str(problem))
    for problem in {str(problem): problem for problem in outcomes.values() if problem is not None}.values():
        document.fail(problem, "features")
    return not document.errors


def _back(rows: list[LevelRow]) -> str:
    words = " ".join(f"{row.feature}={row.old}" for row in rows if row.result == "done")
    return f"kcli cluster features set {words} --execute"
