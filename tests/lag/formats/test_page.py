"""The web page of a recording: its data, its policy, and its script run by V8 on a small document."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from py_mini_racer import MiniRacer

from kcli.admin.groups.rows import Described, Member
from kcli.lag.figures import Sample
from kcli.lag.formats import page as page_module
from kcli.lag.formats.page import Page
from kcli.lag.history import History
from kcli.lag.snapshot import GroupSnapshot, Snapshot
from kcli.lag.status import SEVERITY, STUCK
from kcli.lag.watch import LagSnapshot

HOSTILE = "</script><script>alert(1)</script>"
DOCUMENT = Path(__file__).with_name("document.js").read_text()
START = 1_790_000_000


def page_of(looks: int, groups: tuple[str, ...] = ("g",), partitions: int = 2) -> Page:
    """`looks` refreshes, 5 s apart: the end grows by 100 a partition, nobody commits after the tenth."""
    history, made = History(), Page(HOSTILE)
    for look in range(looks):
        shots = []
        for group in groups:
            samples = [
                Sample(group=group, topic="t", partition=number, committed=100 * min(look, 10), end=100 * look, start=0,
                       stable=100 * look, owned=True, member_id="m", client_id="pod", host="h")
                for number in range(partitions)
            ]  # fmt: skip
            described = Described(group=group, type="classic", state="Stable", members=[Member(member_id="m")])
            shots.append(GroupSnapshot(described=described, samples=samples))
        snapshot = Snapshot(groups=shots)
        time = float(START + 5 * look)
        standings = history.add(time, snapshot)
        made.add(LagSnapshot(time=time, snapshot=snapshot, groups=standings, events=history.news))
    return made


def data_of(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


class Browser:
    """The page's script, run on its data."""

    def __init__(self, html: str) -> None:
        self._engine = MiniRacer()
        self._engine.eval(DOCUMENT)
        self._engine.eval(
            f"made.data = new Node('script'); made.data.textContent = {json.dumps(json.dumps(data_of(html)))}"
        )
        self._engine.eval(script_of(html))

    def __call__(self, line: str) -> Any:
        return json.loads(str(self._engine.eval(f"JSON.stringify({line})")))


def script_of(html: str) -> str:
    return html.partition("<script>")[2].partition("</script>")[0]


def test_the_page_holds_every_refresh() -> None:
    data = data_of(page_of(30).html())
    assert data["times"] == [START + 5 * look for look in range(30)]
    rows = data["groups"]["g"]["rows"]
    assert [row[3] for row in rows[:12]] == [0] * 11 + [200]
    assert rows[-1][:4] == [SEVERITY.index(STUCK), 2, 2, 2 * 1900]
    last = data["groups"]["g"]["partitions"]["t[1]"][-1]
    assert last == [SEVERITY.index(STUCK), 1900, 1000, 2900, 20.0, 0.0, "pod"]
    assert [text for _, group, text in data["events"] if group == "g"] == ["t[0-1]: OK is now STUCK"]


def test_only_its_own_script_runs_and_names_are_no_markup() -> None:
    html = page_of(3, (HOSTILE,)).html()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    allowed = b64encode(sha256(script_of(html).encode()).digest()).decode()
    assert f"script-src 'sha256-{allowed}'" in policy[1]
    assert policy[1].startswith("default-src 'none'")
    assert "alert(1)</script>" not in html
    assert html.count("</script>") == 2
    assert data_of(html)["title"] == HOSTILE
    assert list(data_of(html)["groups"]) == [HOSTILE]


def test_a_long_recording_is_thinned_and_keeps_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "MOMENTS", 10)
    made = page_of(95)
    assert (made.moments, made.seen) == (10, 95)
    times = data_of(made.html())["times"]
    assert (len(times), times[0], times[-1]) == (10, START, START + 5 * 94)
    assert {later - before for before, later in pairwise(times)} <= {50.0, 55.0}
    monkeypatch.setattr(page_module, "ROWS", 12)
    assert made.moments == 6


def test_it_shows_the_last_moment_and_the_worst_group_and_goes_back() -> None:
    browser = Browser(page_of(30, ("calm", "g")).html())
    assert browser("texts('groups')")[0][:6] == ["calm", "■ STUCK", "3,800", "40", "0", "–"]
    assert browser("made.clock.textContent") == "2026-09-21 14:15:45 UTC  30/30"
    assert "t[0-1]: OK is now STUCK" in browser("made.group.textContent")
    assert "t[1]■ STUCK1,9001,0002,90020" in browser("made.group.textContent")
    for _ in range(25):
        browser("key(',') || 0")
    assert browser("made.clock.textContent").endswith(" 5/30")
    assert [row[:3] for row in browser("texts('groups')")] == [["calm", "● OK", "0"], ["g", "● OK", "0"]]
    assert "is now STUCK" not in browser("made.group.textContent")  # that comes later


def test_a_sum_with_an_unknown_part_is_a_lower_bound_and_a_gap_in_the_plot() -> None:
    history, made = History(), Page("r")
    for look in range(3):
        samples = [
            Sample(group="g", topic="t", partition=0, committed=40, end=100, start=0, owned=True),
            Sample(group="g", topic="t", partition=1, committed=40, end=100, start=0, owned=True,
                   error="broker 2 is down" if look == 2 else None),
        ]  # fmt: skip
        unread = [Sample(group="new", topic="t", end=100, start=0, owned=True)]
        shots = [GroupSnapshot(described=Described(group=name), samples=some)
                 for name, some in (("g", samples), ("new", unread))]  # fmt: skip
        snapshot = Snapshot(groups=shots)
        time = float(START + 5 * look)
        made.add(LagSnapshot(time=time, snapshot=snapshot, groups=history.add(time, snapshot)))
    browser = Browser(made.html())
    assert {row[0]: row[2] for row in browser("texts('groups')")} == {"g": "≥ 60", "new": "–"}
    assert browser("made.head.textContent").endswith("lag ≥ 60")
    browser("key(',') || 0")
    assert {row[0]: row[2] for row in browser("texts('groups')")} == {"g": "120", "new": "–"}
    assert browser("made.head.textContent").endswith("lag 120"), "what has no commit is no part of a lag"


def test_it_filters_chooses_and_plays() -> None:
    browser = Browser(page_of(30, ("calm", HOSTILE)).html())
    browser("(made.filter.value = 'SCRIPT', made.filter.heard.input(), 0)")
    assert [row[0] for row in browser("texts('groups')")] == [HOSTILE]
    assert browser("made.group.textContent").startswith(HOSTILE)  # the worst is chosen at first
    browser("key('Escape') || 0")
    assert browser("made.group.textContent") == ""
    browser("(made.groups.children[0].heard.click(), 0)")
    assert browser("made.group.textContent").startswith(HOSTILE)
    browser("key(' ') || 0")  # from the end it begins at the start
    assert browser("made.clock.textContent").endswith(" 1/30")
    for _ in range(29):
        browser("(timers.pop()(), 0)")
    assert browser("made.clock.textContent").endswith(" 30/30")
    assert browser("made.play.textContent") == "▶ play"


def test_the_worst_status_comes_before_the_larger_lag() -> None:
    browser = Browser(page_of(30, ("calm", "g")).html())
    browser(f"(data.groups.calm.rows[29][0] = {SEVERITY.index('OK')}, data.groups.calm.rows[29][3] = 9e9, show(), 0)")
    assert [row[:3] for row in browser("texts('groups')")] == [
        ["g", "■ STUCK", "3,800"],
        ["calm", "● OK", "9,000,000,000"],
    ]
