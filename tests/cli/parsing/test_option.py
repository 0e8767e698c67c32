"""Classes of options: their order, and what a class takes away."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer

import kcli
from kcli.cli.parsing.declarations import options_declared
from kcli.cli.parsing.groups import ChangeOptions, ConnectionOptions, OutputOptions
from kcli.cli.parsing.option import EVERY, Option, Options
from kcli.cli.parsing.shared import KcliOption

COLORS = ("red", "blue")


class ColorOptions(ConnectionOptions):
    color: Annotated[bool, typer.Option("--color", help="In colors.")] = False


class PaintOptions(ColorOptions, ChangeOptions):
    paint: Annotated[list[str], typer.Option("--paint", help="What to paint.")]


class SilentOptions(OutputOptions):
    verbose = False


def test_what_bases_share_comes_last_and_once() -> None:
    assert PaintOptions.names == ("paint", "color", *ChangeOptions.names)


def test_an_attribute_takes_an_option_of_the_bases_away() -> None:
    assert SilentOptions.names == tuple(name for name in OutputOptions.names if name != "verbose")
    assert not SilentOptions(quiet=True).verbose
    with pytest.raises(TypeError, match="verbose"):
        SilentOptions(verbose=True)


def test_each_line_has_lists_of_its_own() -> None:
    PaintOptions().paint.append("door")
    assert PaintOptions().paint == []


class DoorOptions(Options):
    panel = "Doors"
    folded = EVERY

    width: Annotated[int | None, typer.Option("-w", "--width", min=1, max=9, help="How wide.")] = None
    side: Annotated[Literal["in", "out"] | None, typer.Option("--side", hidden=True)] = None
    color: Annotated[list[str], KcliOption("--color", choices=COLORS, also=("--colour",), names=True)]
    open: Annotated[str | None, KcliOption("--open", metavar="TIME", alone="1h", empty=True)] = None


def test_an_annotation_says_all_of_an_option() -> None:
    shared: dict[str, Any] = {"panel": "Doors", "folded": True}
    assert options_declared(DoorOptions) == (
        Option(
            name="width", flags=("-w", "--width"), kind="int", metavar="N", help="How wide.", least=1, most=9, **shared
        ),
        Option(name="side", flags=("--side",), choices=("in", "out"), hidden=True, **shared),
        Option(
            name="color", flags=("--color",), multiple=True, choices=COLORS, also=("--colour",), word=True, **shared
        ),
        Option(name="open", flags=("--open",), metavar="TIME", alone="1h", empty=True, **shared),
    )


def test_what_is_no_option_is_refused() -> None:
    class LooseOptions(Options):
        loose: Annotated[int, "no option"] = 0

    with pytest.raises(TypeError, match=r"LooseOptions\.loose: expected Annotated"):
        options_declared(LooseOptions)


def test_choices_that_are_the_same_words_have_one_order() -> None:
    """Typing keeps one of two equal unions, so that the order of the other would depend on which was read first."""
    orders: dict[frozenset[str], set[tuple[str, ...]]] = {}
    for path in Path(kcli.__file__).parent.joinpath("cli").rglob("*.py"):
        for words in re.findall(r"Literal\[([^\]]+)\]", path.read_text()):
            order = tuple(word.strip() for word in words.split(",") if word.strip())
            orders.setdefault(frozenset(order), set()).add(order)
    assert orders
    assert [every for every in orders.values() if len(every) > 1] == []
