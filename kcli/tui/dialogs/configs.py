"""Change configs: names are completed, and of the one that is typed the dialog shows its value, its default, its unit
and Kafka's documentation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from textual import work
from textual.suggester import Suggester
from textual.widgets import Input, Static

from kcli.admin.configs import Resource, describe_configs, whole_number
from kcli.errors import KcliError
from kcli.text.numbers import duration, size
from kcli.text.suggest import did_you_mean
from kcli.tui.dialogs.change import Changing
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from kcli.admin.configs import Config
    from kcli.client import Client
    from kcli.tui.actions.changes.topics import AlterConfigs

NAMED = 8
"""Configs that are named while none is typed yet, or several begin so."""
UNITS = {"ms": ("3d, 12h, 30m, 500ms", lambda number: duration(number / 1000)), "bytes": ("1GiB, 64MiB", size)}
"""By what a name has in it: values that are understood, and how a number reads."""


class Configuring(Changing):
    """The dialog of a change of configs."""

    _known: Sequence[Config] = ()

    def ask_fields(self) -> ComposeResult:
        yield from super().ask_fields()
        yield Static("", id="about-config", markup=False)

    def on_mount(self) -> None:
        self._learn()

    @work(group="learn")
    async def _learn(self) -> None:
        """Ask what there is; of all brokers at once the first one has the names."""
        at = cast("AlterConfigs", self.change).at

        async def asked(client: Client) -> list[Config]:
            of = at
            if at == ("broker", ""):
                of = Resource("broker", str((await client.cluster.nodes())[0].id))
            found = (await describe_configs(client.cluster, [of], documentation=True))[of]
            return [] if isinstance(found, KcliError) else found

        try:
            self._known = [one for one in await self.session.ask(asked) if not one.read_only]
        except KcliError:
            return  # the plan says what is wrong
        if self.is_open:
            field = self.query_one("#f-configs", Input)
            field.suggester = Names([one.name for one in self._known])
            self._tell(field.value)

    def on_input_changed(self, event: Input.Changed) -> None:
        super().on_input_changed(event)
        if event.input.id == "f-configs":
            self._tell(event.value)

    def _tell(self, text: str) -> None:
        """About the word that is typed last."""
        typed = text.split(" ")[-1]
        self.query_one("#about-config", Static).update("\n".join(map(printable, about(self._known, typed).split("\n"))))


class Names(Suggester):
    """Completes the name of the last word."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(case_sensitive=True)
        self._names = names

    async def get_suggestion(self, value: str) -> str | None:
        before, space, word = value.rpartition(" ")
        found = next((name for name in self._names if word and name.startswith(word)), None)
        return None if found is None else f"{before}{space}{found}="


def about(known: Sequence[Config], typed: str) -> str:
    """What the dialog says of a word `name=value`, or the beginning of a name."""
    name = typed.partition("=")[0]
    config = next((one for one in known if one.name == name), None)
    if config is not None:
        takes = unit(name)[0]
        kind = f"{config.kind or 'any value'}{f', also as {takes}' if takes else ''}"
        default = "" if config.inherited in (None, config.value) else f"; without it {read(name, config.inherited)}"
        if config.inherited is None and config.set_here and not config.secret:
            default = "; brokers do not report its default"
        value = "secret" if config.secret else read(name, config.value)
        return f"now {value}, set by {config.source}{default}. Takes {kind}.\n{config.documentation}"
    near = [one for one in known if name and name in one.name] if name else [one for one in known if one.set_here]
    if near:
        shown = "  ".join(f"{one.name}={read(one.name, one.value)}" for one in near[:NAMED] if not one.secret)
        return f"{'set now' if not name else 'such as'}: {shown}{' …' if len(near) > NAMED else ''}"
    if not name:
        return "nothing is set: type a name, → completes it" if known else ""
    return f"unknown config {name}{did_you_mean(name, [one.name for one in known])}" if known else ""


def unit(name: str) -> tuple[str, object]:
    """The values with a unit that a config takes, and how its number reads; "" without a unit."""
    found = re.search(r"(?:^|[._])(ms|bytes)(?:$|[._])", name)
    return UNITS[found[1]] if found else ("", None)


def read(name: str, value: str | None) -> str:
    """`604800000 (7d)`."""
    number, make = whole_number(value), unit(name)[1]
    return value or "nothing" if number is None or not callable(make) else f"{value} ({make(number)})"
