"""The list of clusters where none is named."""

from __future__ import annotations

import pytest
from textual.widgets import OptionList, Static

from kcli.tui.chooser import Chooser

ROWS = [
    ("shop", "one:9092", "~/.kaf/config (kaf)"),
    ("broken", "", "~/.config/rpk/rpk.yaml: it is not YAML"),
    ("a sandbox", "", "kcli demo"),
]


def chooser() -> Chooser:
    return Chooser(ROWS, [True, True, False], [True, False, True])


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["enter"], (0, False)),
        (["w"], (0, True)),
        (["j", "j", "enter"], (2, False)),
        (["down", "j", "k", "k", "enter"], (0, False)),
        (["q"], None),
        (["escape"], None),
    ],
)
async def test_enter_opens_one_this_time_and_w_keeps_it(keys: list[str], answer: tuple[int, bool] | None) -> None:
    app = chooser()
    async with app.run_test() as pilot:
        await pilot.press(*keys)
    assert app.return_value == answer


async def test_a_click_opens_one() -> None:
    app = chooser()
    async with app.run_test() as pilot:
        await pilot.click(OptionList, offset=(5, 5))
    assert app.return_value == (2, False)


async def test_what_cannot_be_opened_or_kept_says_why() -> None:
    app = chooser()
    async with app.run_test() as pilot:
        await pilot.press("j", "enter")
        assert "it is not YAML" in str(app.query_one("#wrong", Static).content)
        await pilot.press("j", "w")
        assert "nothing to keep" in str(app.query_one("#wrong", Static).content)
        assert app.return_value is None
