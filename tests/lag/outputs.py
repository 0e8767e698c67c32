"""The outputs of a group after a look, side by side: what the commands and the dashboard print."""

from __future__ import annotations

import re
from typing import NamedTuple

from kcli.cli.commands.groups.why import WhyRow
from kcli.cli.commands.groups.why import _row as why_row
from kcli.cli.commands.lag.measured import GroupRow, group_row, measure
from kcli.cli.commands.lag.rows import SHAPES as OVER_TIME
from kcli.cli.commands.lag.rows import GroupOverTimeRow, fill
from kcli.cli.output.tables.document import Document
from kcli.lag.assertion import LagAssertion
from kcli.lag.figures import over, untold
from kcli.lag.formats.prometheus import render
from kcli.lag.formats.sentences import reason
from kcli.lag.history import GroupStanding
from kcli.lag.status import IDLE, OK
from kcli.lag.watch import LagSnapshot
from kcli.tui.text.formatting import status_of

MOST = 100
"""Offsets that the assertion allows."""


class Outputs(NamedTuple):
    """A group as each output has it. `sentence` is the dashboard's; `broken` and `broken_once` are the limits that an
    assertion over time and one of a single look find broken."""

    table: GroupRow
    why: WhyRow
    watch: GroupOverTimeRow
    dashboard: GroupStanding
    sentence: str
    prometheus: str
    broken: list[str]
    broken_once: list[str]


def outputs(seen: LagSnapshot, group: str) -> Outputs:
    """The outputs of a group, made of one look as the commands make them."""
    (shot,) = [shot for shot in seen.snapshot.groups if shot.described.group == group]
    (standing,) = [standing for standing in seen.groups if standing.described.group == group]
    only = LagSnapshot(time=seen.time, snapshot=seen.snapshot, groups=[standing], why=seen.why)
    _, rows, total = measure(shot)
    document = Document(shape=OVER_TIME["group"])
    fill(document, only, "group")
    return Outputs(
        table=group_row(shot.described, total),
        why=why_row(standing, seen),
        watch=document.of(GroupOverTimeRow)[0],
        dashboard=standing,
        sentence=reason(standing, seen),
        prometheus=render(only),
        broken=[one.text for one in LagAssertion(MOST, None, groups=[group]).broken(only)],
        broken_once=[
            one.text for one in untold([(total, rows)], [group], f"max-lag {MOST}") + over([(total, rows)], MOST)
        ],
    )


def agree(seen: Outputs, status: str, lag: int | None, *, once: str = "", moves: bool = False) -> None:
    """Raise AssertionError unless all outputs have this status (the table of a single look `once`) and this lag. Of a
    group that `moves` the outputs looked at different times."""
    group = seen.dashboard.described.group
    shown = OK if status == IDLE and seen.dashboard.in_rate != 0 else status  # it asks what came in a minute before
    told = {
        "why": seen.why.status,
        "watch": seen.watch.status,
        "dashboard": seen.dashboard.status,
        "metrics": metric(seen.prometheus, "kcli_group_status", group),
    }
    assert told == dict.fromkeys(told, status) | {"dashboard": shown}, told
    assert seen.table.status == (once or status)
    assert shown in status_of(seen.dashboard.total)[0]
    alike = {seen.why.status_partitions, seen.watch.status_partitions, seen.dashboard.total.alike}
    assert alike == ({seen.table.status_partitions} if status == seen.table.status else alike)
    unknown = metric(seen.prometheus, "kcli_group_unknown_partitions", group)
    assert {
        seen.table.unknown,
        seen.why.unknown,
        seen.watch.unknown,
        seen.dashboard.total.unknown,
        int(unknown or 0),
    } == {seen.table.unknown}
    if moves:
        return
    eta = metric(seen.prometheus, "kcli_group_eta_seconds", group)
    assert len({one is None for one in (seen.why.eta, seen.watch.eta, seen.dashboard.eta, eta)}) == 1
    assert seen.broken == seen.broken_once
    lags = {
        "table": seen.table.lag,
        "why": seen.why.lag,
        "watch": seen.watch.lag,
        "dashboard": seen.dashboard.total.lag,
    }
    assert lags == dict.fromkeys(lags, lag)
    if status != "BEHIND" or seen.why.eta:  # else what it says depends on how long it was watched
        assert _plain(seen.sentence) == _plain(seen.why.why)


def _plain(sentence: str) -> str:
    """A sentence without its durations, which grow between two looks, and without what waits: `why` counts records."""
    sentence = re.sub(r"\S+ (offset|record)s? waits?", "… wait", sentence)
    return re.sub(r"\d+(\.\d+)?(ms|s|m|h|d)\b(\d+[smh]\b)?|\d+ s\b", "…", sentence)


def metric(page: str, name: str, group: str) -> str | None:
    """The first value of a group's metric, or the status that is 1."""
    label = group.replace("\\", "\\\\").replace('"', '\\"')
    rows = [line for line in page.splitlines() if line.startswith(f'{name}{{consumergroup="{label}"')]
    if name == "kcli_group_status":
        (row,) = [row for row in rows if row.endswith(" 1")]
        return row.partition('status="')[2].partition('"')[0]
    return rows[0].rpartition(" ")[2] if rows else None
