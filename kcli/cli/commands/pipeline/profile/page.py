"""A profile as one page of HTML: pictures are SVG in it, nothing is fetched, no script runs, and whatever comes out of
a topic is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from kcli.cli.commands.pipeline.profile.rows import field_rows, partition_row, size_row, step_row, topic_row
from kcli.cli.output.tables.rows import Row
from kcli.pipeline.jobs.profile import Profile
from kcli.text.numbers import human_time
from kcli.text.numbers import size as size_of

WIDTH, HEIGHT, LINE = 860, 180, 22
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; font-size: 13px; } td, th { padding: 3px 10px 3px 0; text-align: left;
border-bottom: 1px solid #d8dee4; vertical-align: top; overflow-wrap: anywhere; } .n { text-align: right; }
svg { max-width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: #1b1f24; }
.bar { fill: #2f81b7; } .line { fill: #2f81b733; stroke: #2f81b7; stroke-width: 1.5; }
@media (prefers-color-scheme: dark) { body { background: #14171b; color: #d7dce2; } svg text { fill: #d7dce2; }
td, th { border-color: #30363d; } }
"""


def page(profile: Profile) -> str:
    """The whole document."""
    title = text(profile.topic)
    topic = topic_row(profile)
    head = (
        f"{topic.records:,} records, {size_of(topic.bytes)} in {topic.partitions} partitions; "
        f"{topic.null_keys:,} without key, {topic.null_values:,} without value, {topic.gaps:,} gaps; "
        f"about {topic.distinct_keys:,} keys."
    )
    if topic.first:
        head += f" From {text(topic.first)} to {text(topic.last)}, {human_time(topic.seconds)}."
    parts = [f"<h1>{title}</h1><p>{head}</p>"]
    if len(profile.rate) > 1:
        parts.append(_titled(f"Records per second, in steps of {human_time(profile.step)}", _line(profile)))
    if profile.partitions:
        bars = [(str(part.partition), part.records, f"{part.share:.1%}") for part in profile.partitions]
        parts.append(_titled("Partitions", _bars(bars) + _table([partition_row(part) for part in profile.partitions])))
    for size in profile.sizes:
        bars = [(step, count, "") for step, count in size.histogram.items()]
        parts.append(_titled(f"Bytes of a {text(size.part)}", _bars(bars) + _table([size_row(size)])))
    if profile.keys:
        bars = [(key.key, key.records, f"{key.share:.1%}") for key in profile.keys]
        parts.append(_titled("The most frequent keys", _bars(bars)))
    if profile.fields.paths:
        table = _table(field_rows(profile.fields))
        parts.append(_titled(f"JSON fields of {profile.fields.values:,} values", table))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>{STYLE}</style></head>'
        f"<body>{''.join(parts)}</body></html>\n"
    )


def text(value: object) -> str:
    """A foreign value in HTML: characters that draw or turn lines are shown as their numbers."""
    from kcli.text.escape import visible

    return escape(visible(str(value)), quote=True)


def _titled(title: str, body: str) -> str:
    return f"<h2>{title}</h2>{body}"


def _bars(rows: Sequence[tuple[str, int, str]]) -> str:
    most = max((count for _, count, _ in rows), default=0) or 1
    lines = []
    for number, (name, count, more) in enumerate(rows):
        y = number * LINE
        wide = max(count / most * 500, 1 if count else 0)
        shown = name if len(name) <= 28 else name[:27] + "…"
        lines.append(
            f'<text x="200" y="{y + 15}" text-anchor="end">{text(shown)}<title>{text(name)}</title></text>'
            f'<rect class="bar" x="208" y="{y + 3}" width="{wide:.1f}" height="15"/>'
            f'<text x="{216 + wide:.1f}" y="{y + 15}">{count:,} {text(more)}</text>'
        )
    high = len(rows) * LINE
    return f'<svg viewBox="0 0 {WIDTH} {high}" width="{WIDTH}" height="{high}" role="img">{"".join(lines)}</svg>'


def _line(profile: Profile) -> str:
    rates = [step.rate for step in profile.rate]
    most, wide = max(rates) or 1, WIDTH - 80
    step = wide / max(len(rates) - 1, 1)
    points = " ".join(
        f"{70 + n * step:.1f},{HEIGHT - 25 - rate / most * (HEIGHT - 45):.1f}" for n, rate in enumerate(rates)
    )
    base = HEIGHT - 25
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">'
        f'<polygon class="line" points="70,{base} {points} {70 + wide},{base}"/>'
        f'<text x="64" y="24" text-anchor="end">{max(rates):,.0f}</text>'
        f'<text x="64" y="{base}" text-anchor="end">0</text>'
        f'<text x="70" y="{HEIGHT - 6}">{text(step_row(profile.rate[0]).time)}</text>'
        f'<text x="{70 + wide}" y="{HEIGHT - 6}" text-anchor="end">{text(step_row(profile.rate[-1]).time)}</text></svg>'
    )


def _table(rows: Sequence[Row]) -> str:
    """A table of rows of one kind, of which there is at least one."""
    columns = [(name, column) for name, column in type(rows[0]).fields if column.table]
    head = "".join(f"<th>{escape(column.title.lower())}</th>" for _, column in columns)
    body = "".join(f"<tr>{''.join(_cell(getattr(row, name)) for name, _ in columns)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if value is None:
        return "<td>–</td>"
    if isinstance(value, list):
        return f"<td>{'<br>'.join(text(item) for item in value)}</td>"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f'<td class="n">{value:,}</td>'
    return f"<td>{text(value)}</td>"
