"""A table of configs: overrides first, then what is inherited; the same for topics and brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from kcli.admin.configs import Resource, describe_configs
from kcli.errors import KcliError
from kcli.text.numbers import DASH
from kcli.tui.text.printable import printable
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.admin.configs import Config
    from kcli.client import Client


NUMBER = 20
"""Cells of the longest number that a config has, -9223372036854775808: it is shown whole."""


class Configs(Vertical):
    """The table, `configs`. Where it has no room for a value, lines below have that of the row under the cursor, and
    its source."""

    def compose(self) -> ComposeResult:
        yield Rows(
            config_columns(),
            key=lambda c: c.name,
            order=lambda c: (not c.set_here, c.name),
            id="configs",
            opens=False,
            empty="The broker tells no configs.",
        )
        yield Static(id="whole-value", markup=False)

    def on_rows_moved(self) -> None:
        self._show()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    def put(self, answer: list[Config] | KcliError) -> None:
        """Show the answer."""
        table = self.query_one(Rows)
        if isinstance(answer, KcliError):
            table.empty = printable(str(answer))
            table.put([])
        else:
            table.put(answer)
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        """The lines keep their height for all rows: the table is not to jump under the cursor."""
        if not self.query("#whole-value") or not self.query(Rows):
            return  # the page was left meanwhile
        table, line = self.query_one(Rows), self.query_one("#whole-value", Static)
        row = table.row
        line.display = row is not None and table.has_cut("value")
        if row is not None:
            value = value_of(row).text
            line.update(f"{printable(row.name)}{f' = {value}' if value else ': no value'}  ({row.source})")


async def ask_configs(client: Client, kind: str, name: str, *, documentation: bool = False) -> list[Config] | KcliError:
    """All configs of a topic or a broker; what is wrong where they may or can not be read."""
    at = Resource(kind, name)
    try:
        return (await describe_configs(client.cluster, [at], documentation=documentation))[at]
    except KcliError as problem:
        return problem


def config_columns() -> list[Column]:
    """Of configs of whatever."""
    return [
        Column(
            "name",
            "CONFIG",
            lambda c: c.name,
            draw=lambda c: Cell(printable(c.name), "" if c.set_here else "dim"),
            letter="N",
            rank=0,
            most=60,
        ),
        Column(
            "value", "VALUE", lambda c: c.value, draw=value_of, letter="V", rank=0, wide=True, most=200, least=NUMBER
        ),
        Column(
            "source",
            "SET BY",
            lambda c: (not c.set_here, c.source),
            draw=lambda c: Cell(c.source, "accent" if c.set_here else "dim"),
            letter="S",
        ),
        Column(
            "inherited",
            "INHERITED",
            lambda c: inherited(c),
            draw=lambda c: Cell(printable(inherited(c)), "dim"),
            rank=2,
        ),
    ]


def inherited(config: Config) -> str:
    """The value without what is set here: its own if nothing is, and – if the broker does not report it."""
    if config.set_here:
        return DASH if config.inherited is None else config.inherited
    return config.inherited or config.value or ""


def value_of(config: Config) -> Cell:
    """The value of a config, where it may be seen."""
    if config.secret:
        return Cell("(secret)", "dim")
    return Cell("" if config.value is None else printable(config.value), "" if config.set_here else "dim")
