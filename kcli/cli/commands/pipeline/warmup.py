"""`kcli pipeline warmup`: the class-data archive, with which Spark starts in half the time."""

from __future__ import annotations

from time import monotonic

from kcli.cli.commands.pipeline.options import SparkOptions
from kcli.cli.commands.pipeline.session.frame import conf_of
from kcli.cli.commands.pipeline.session.progress import Watch
from kcli.cli.output.messages import complain
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import QuietOptions
from kcli.pipeline.session.session import SessionSettings
from kcli.text.numbers import size as size_of


class WarmupOptions(SparkOptions, QuietOptions):
    """Which Spark."""


@command(
    "pipeline warmup",
    help="Create a class-data archive: Spark starts in half the time.",
    examples="""
kcli pipeline warmup""",
)
def warmup(options: WarmupOptions) -> int:
    """Run Spark once, for about half a minute, and keep its classes in ~/.cache/kcli as the JVM has them in memory.
    Every later start maps that file. One for each Spark and Java."""
    from kcli.pipeline.session.session import check_pyspark
    from kcli.pipeline.session.warm_up import warm_up

    check_pyspark()
    begun = monotonic()
    with Watch("warmup", hidden=options.quiet).starting("running Spark once, for about half a minute …"):
        archive = warm_up(trial_settings(options))
    if not options.quiet:
        complain(f"{archive} has {size_of(archive.stat().st_size)}, made in {monotonic() - begun:.0f} s")
    return 0


def trial_settings(options: SparkOptions) -> SessionSettings:
    """Of a Spark that only shows that it starts."""
    return SessionSettings(
        name="kcli doctor",
        java_home=options.java_home,
        conf=tuple(conf_of(options.conf).items()),
        memory=options.memory or "2g",
    )
