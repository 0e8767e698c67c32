"""Colours. Two themes whose bad, warn and good differ in lightness too, so that every user can distinguish them;
statuses have glyphs besides. `NO_COLOR` takes all of them away (Textual does that)."""

from __future__ import annotations

from textual.theme import Theme

THEMES = (
    Theme(
        name="kcli-dark",
        dark=True,
        primary="#5fafd7",
        secondary="#87afaf",
        accent="#56b4e9",
        foreground="#d0d0d0",
        background="#101418",
        surface="#161b21",
        panel="#1f262e",
        success="#2bbf8a",
        warning="#e6b422",
        error="#ff6e4a",
        variables={"protected": "#a01515"},
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
        variables={"protected": "#c01818"},
    ),
)
