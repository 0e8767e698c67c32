"""Colours. Two themes whose bad, warn and good differ in lightness too, so that every user can distinguish them;
statuses have glyphs besides. `NO_COLOR` takes all of them away (Textual does that)."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache

from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.style import Style
from textual.color import Color, Gradient
from textual.theme import Theme

THEMES = (
    Theme(
        name="kcli-dark",
        dark=True,
        primary="#5fafd7",
        secondary="#87afaf",
        accent="#56b4e9",
        foreground="#d0d0d0",
        background="#121417",
        surface="#181b1f",
        panel="#22272d",
        success="#2bbf8a",
        warning="#e6b422",
        error="#ff6e4a",
        variables={"protected": "#a01515", "cursor": "#3d4247"},
    ),
    Theme(
        name="kcli-light",
        dark=False,
        primary="#005f87",
        secondary="#4e6d6d",
        accent="#005faf",
        foreground="#1c1c1c",
        background="#fbfbf8",
        surface="#f2f2ee",
        panel="#e4e4de",
        success="#00704a",
        warning="#8a5a00",
        error="#af0000",
        variables={"protected": "#c01818", "cursor": "#c4c8cb"},
    ),
)

STEPS = 18
"""Colours of a heatmap: as many as differ by eye (1.1 to 1) where the first stands out from the ground (3 to 1)."""
FIRST = 3.05
"""The contrast of the first colour with the ground, and a little more than 3, as colours are whole numbers."""
READ, READ_OF_FEW = 4.5, 4.3
"""The contrast of text, and that of the nearest of 256 colours."""
_HEAT = Gradient.from_colors(
    "#1b0c41", "#4a0c6b", "#781c6d", "#a52c60", "#cf4446", "#ed6925", "#fb9b06", "#f7d13d", "#fcffa4"
)
"""From dark to bright, as in the colour map inferno."""


@cache
def heat(*, dark: bool) -> tuple[Style, ...]:
    """The colours of a heatmap, from little to much: each is by the same ratio further from the ground than the one
    before, so that neighbours differ by eye, also in shades of grey."""
    path = [_HEAT.get_color(n / 1000) for n in range(1001)]
    lights = [luminance(color) + 0.05 for color in path]
    ground = luminance(Color.parse(THEMES[not dark].background or "")) + 0.05
    first, last = (ground * FIRST, lights[-1]) if dark else (ground / FIRST, lights[0])
    wanted = [first * (last / first) ** (n / (STEPS - 1)) for n in range(STEPS)]
    return tuple(Style(color=path[min(bisect_left(lights, one), 1000)].hex6.lower()) for one in wanted)


def luminance(color: Color) -> float:
    """As in the contrast of WCAG."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: RichColor, other: RichColor) -> float:
    """From 1 (alike) to 21 (black and white)."""
    dark, light = sorted(luminance(Color.from_rich_color(each)) + 0.05 for each in (one, other))
    return light / dark


@cache
def readable(color: RichColor, ground: RichColor) -> RichColor:
    """The colour itself, or one lighter or darker in which text can be read on this ground, also with 256 colours."""
    few = ground.downgrade(ColorSystem.EIGHT_BIT)
    if color.triplet is None or ground.triplet is None:
        return color  # the terminal's own, which only it knows
    end = Color.parse("white" if luminance(Color.from_rich_color(ground)) < 0.18 else "black")
    for share in range(21):
        mixed = Color.from_rich_color(color).blend(end, share / 20).rich_color
        nearest = mixed.downgrade(ColorSystem.EIGHT_BIT)
        if contrast(mixed, ground) >= READ and contrast(nearest, few) >= READ_OF_FEW:
            break
    return mixed
