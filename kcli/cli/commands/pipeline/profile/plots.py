"""A profile on a terminal: bars, lines of blocks and tables. Cells are Text, never markup."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kcli.cli.commands.pipeline.profile.rows import SHAPE, FieldRow, field_rows, step_row, topic_row
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.output.tables.view import View
from kcli.text.escape import visible
from kcli.text.numbers import human_time
from kcli.text.numbers import size as size_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.pipeline.jobs.profile import Profile

BAR = 40
BLOCKS = " ▁▂▃▄▅▆▇█"
LINES = 6
"""Height of the plot of the rate."""


def draw(profile: Profile, stream: TextIO, *, wide: bool = False) -> None:
    """Print it."""
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    topic = topic_row(profile)
    console.print(Text(visible(profile.topic), style="bold"), soft_wrap=True)
    console.print(
        f"{topic.records:,} records, {size_of(topic.bytes)} in {topic.partitions} partitions; "
        f"{topic.null_keys:,} without key, {topic.null_values:,} without value, {topic.gaps:,} gaps; "
        f"about {topic.distinct_keys:,} keys"
    )
    if not profile.records:
        return
    console.print(f"{topic.first} to {topic.last}, {human_time(topic.seconds)}")
    _rate(profile, console)
    partitions = [(str(part.partition), part.records, f"{part.share:.1%}") for part in profile.partitions]
    _bars("Partitions", partitions, console)
    for size in profile.sizes:
        rows = [(step, count, "") for step, count in size.histogram.items()]
        title = f"Bytes of a {size.part}: p50 {size.p50:,}, p99 {size.p99:,}, max {size.max:,}"
        _bars(title, rows, console)
    _bars("Keys", [(visible(key.key), key.records, f"{key.share:.1%}") for key in profile.keys], console)
    if profile.fields.paths:
        console.print()
        console.print(Text(f"JSON fields of {profile.fields.values:,} values", style="bold"))
        fields = Document(shape=SHAPE, view=View(section=FieldRow.section, wide=wide))
        fields.of(FieldRow).extend(field_rows(profile.fields))
        write(fields, "table", stream)


def _bars(title: str, rows: Sequence[tuple[str, int, str]], console: Console) -> None:
    if not rows:
        return
    console.print()
    console.print(Text(title, style="bold"))
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right", max_width=32, no_wrap=True, overflow="ellipsis")
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    most = max(count for _, count, _ in rows)
    for name, count, more in rows:
        table.add_row(Text(name), Text(bar(count, most), style="cyan"), Text(f"{count:,}"), Text(more, style="dim"))
    console.print(table)


def bar(count: int, most: int, width: int = BAR) -> str:
    """Blocks, to an eighth of one."""
    eighths = round(count / most * width * 8) if most else 0
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (" ▏▎▍▌▋▊▉"[rest] if rest else "") or ("▏" if count else "")


def plot(values: Sequence[float], height: int = LINES) -> list[str]:
    """Columns of blocks, the highest line first."""
    most = max(values, default=0)
    steps = [round(value / most * height * 8) if most else 0 for value in values]
    steps = [max(step, 1) if value else 0 for step, value in zip(steps, values, strict=True)]
    return ["".join(BLOCKS[min(max(step - line * 8, 0), 8)] for step in steps) for line in reversed(range(height))]


def _rate(profile: Profile, console: Console) -> None:
    if len(profile.rate) < 2:
        return
    rates = [step.rate for step in profile.rate]
    console.print()
    console.print(Text(f"Records per second, in steps of {human_time(profile.step)}", style="bold"))
    top = f"{max(rates):,.0f}"
    for number, line in enumerate(plot(rates)):
        console.print(Text(f"{top if number == 0 else '':>10} "), Text(line, style="green"), end="\n", sep="")
    console.print(f"{'':>10} {step_row(profile.rate[0]).time} … {step_row(profile.rate[-1]).time}")
