"""Classes of options: their order, and what a class takes away."""

from __future__ import annotations

import pytest

from kcli.cli.parsing.groups import ChangeOptions, ConnectionOptions, OutputOptions
from kcli.cli.parsing.option import Options, flag, texts


class ColorOptions(ConnectionOptions):
    color = flag("--color", help="In colors.")


class PaintOptions(ColorOptions, ChangeOptions):
    paint = texts("--paint", help="What to paint.")


class SilentOptions(OutputOptions):
    verbose = False


def names(options: type[Options]) -> list[str]:
    return [option.name for option in options.declared]


def test_what_bases_share_comes_last_and_once() -> None:
    assert names(PaintOptions) == ["paint", "color", *names(ChangeOptions)]


def test_an_attribute_takes_an_option_of_the_bases_away() -> None:
    assert names(SilentOptions) == [name for name in names(OutputOptions) if name != "verbose"]
    assert not SilentOptions(quiet=True).verbose
    with pytest.raises(TypeError, match="verbose"):
        SilentOptions(verbose=True)


def test_each_line_has_lists_of_its_own() -> None:
    PaintOptions().paint.append("door")
    assert PaintOptions().paint == []
