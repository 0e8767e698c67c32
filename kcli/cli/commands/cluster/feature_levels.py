"""`kcli cluster features set`, `upgrade` and `downgrade`: a plan that the controller checks, then all or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.cluster.brokers import METADATA_VERSION, level_of
from kcli.changes.change import DONE
from kcli.changes.cluster import plan_features
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, ControllerOptions
from kcli.cli.runtime.answer import plural
from kcli.cli.runtime.change import apply_plan
from kcli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated

    import typer

    from kcli.changes import change as changes
    from kcli.cli.output.tables.shape import Shape


class LevelRow(Row, section="features"):
    feature: str = column("Name of the feature.", rank=1)
    old: int | None = column("Its level before; 0 is off.", rank=1)
    new: int | None = column("Its level after.", rank=1)
    action: str | None = column("upgrade, downgrade or unsafe downgrade.", unit="word")
    result: str = column("would change, unchanged, done, failed or unknown.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")
    old_version: str | None = column("Kafka's name for the level before, such as 4.3-IV0.", sparse=True, unit="word")
    new_version: str | None = column("Kafka's name for the level after.", sparse=True, unit="word")


ABOUT = "Levels of features that were changed, or would be."
SET = shape("cluster.features.set", ABOUT, LevelRow)
UPGRADES = shape("cluster.features.upgrade", ABOUT, LevelRow)
DOWNGRADES = shape("cluster.features.downgrade", ABOUT, LevelRow)


class LevelOptions(ControllerOptions, ChangeOptions):
    """Which servers to ask, and the options of a plan."""


class DowngradeOptions(LevelOptions):
    """A change that may take levels down."""

    unsafe: Annotated[bool, typer.Option("--unsafe", help="Allow a downgrade that loses metadata.")] = False


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
    applies all of it or nothing."""
    return _change(options, SET, "set", _levels(options.words), unsafe=options.unsafe)


@command(
    "cluster features upgrade",
    help="Upgrade features to a level, or to the highest.",
    words="FEATURE[=LEVEL]",
    examples="""
kcli cluster features upgrade --dry-run
kcli cluster features upgrade metadata.version=4.4-IV2 --execute
kcli cluster features upgrade transaction.version=2 --execute""",
)
def upgrade_features(options: LevelOptions) -> int:
    """Raise features to higher levels. Without a level, use the highest that the broker supports; without names,
    upgrade all features. The plan comes first, checked by the controller; --execute applies it.
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
    """Lower the levels of features. A downgrade that would lose metadata requires --unsafe. The plan comes first,
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
        known = level_of(level) if name == METADATA_VERSION else None
        if known is not None:
            level = str(known)
        elif equals and not (level.isascii() and level.isdecimal() and int(level) < 1 << 15):
            what = ", or a name such as 4.4-IV2" if name == METADATA_VERSION else ""
            raise UsageError(f"{word}: a level must be a whole number{what}; 0 switches the feature off")
        if name in levels:
            raise UsageError(f"{name} is given twice")
        levels[name] = int(level) if equals else None
    if not levels and not highest:
        raise UsageError("missing argument: features with their levels, FEATURE=LEVEL")
    return levels


def _change(
    options: ChangeOptions, shape: Shape, verb: str, wanted: dict[str, int | None], *, unsafe: bool = False
) -> int:
    return apply_plan(
        *(options, shape, LevelRow),
        lambda at: plan_features(at, wanted, verb=verb, unsafe=unsafe),
        nothing="every feature has that level already", refused="", verb="change", noun="feature", done=_done,
    )  # fmt: skip


def _done(rows: Sequence[changes.Row]) -> str:
    done = [row.as_json() for row in rows if row.result == DONE]
    words = " ".join(f"{row['feature']}={row['old']}" for row in done)
    back = f"kcli cluster features set {words} --execute"
    return f"{plural(len(done), 'feature')} changed; to go back: {back}" if done else ""
