"""The page of benchmarks: its figures of schemas are within their limits, and a part of it is written anew alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import goals, group, optional, report, sampled, where
from benchmarks.cases import Data, Job, commands, jobs
from benchmarks.curves import AGAIN, AXES, Curve, confirmed
from benchmarks.process import Run
from benchmarks.report import with_part
from tests.each import each

PAGE = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]
COLUMNS = "Avro → Arrow columns, no process around it, 20,000 records a column"


@each(
    ("row", "limit"),
    [
        (["Avro as JSON", "kcli"], 1.0),
        (["Protobuf as JSON", "kcli"], 4.0),
        ([COLUMNS, "kcli"], 0.12),
        (["consume, 10 records of Avro"], 25),
    ],
)
def test_figures_of_schemas_are_within_their_limits(row: list[str], limit: float) -> None:
    """µs of CPU a record; of a start-up, ms more than without schemas."""
    (found,) = [cells for cells in ROWS if cells[: len(row)] == row]
    assert float(found[-1]) <= limit


def test_a_part_of_the_page_is_written_anew() -> None:
    page = "# Page\n\n## One, of old\n\n1\n\n## Two\n\n2\n"
    assert with_part(page, "## One", "\n## One\n\n3\n") == "# Page\n\n## One\n\n3\n\n## Two\n\n2\n"
    assert with_part(page, "## Two", "\n## Two\n\n3\n") == "# Page\n\n## One, of old\n\n1\n\n## Two\n\n3\n"
    with pytest.raises(ValueError, match="no part ## Three"):
        with_part(page, "## Three", "")


@each(
    ("text", "names"),
    [
        ("", set()),
        ("kcli", {"kcli"}),
        ("kcli,kcat", {"kcli", "kcat"}),
        ("kcli, plain Python", {"kcli, plain Python"}),
        ("kcat, kcli, plain Python,java", {"kcat", "kcli, plain Python", "java"}),
    ],
)
def test_programs_are_named_with_the_commas_in_their_names(text: str, names: set[str]) -> None:
    assert report.chosen(text) == names


def test_an_unknown_program_is_an_error() -> None:
    with pytest.raises(ValueError, match="no program is named kact; there are: kcli; kcli, plain Python"):
        report.chosen("kcli,kact")


def curve(work: list[float], cpu: list[float]) -> Curve:
    return Curve("x", list(range(len(work))), work, [Run(seconds, seconds, 10, 0) for seconds in cpu])


@each(
    ("work", "cpu", "bends"),
    [
        ([1, 10, 100], [0.06, 0.15, 1.05], [False, False, False]),  # in step with the work
        ([1, 10, 100], [0.06, 0.15, 3.05], [False, False, True]),
        ([1, 1, 1], [0.15, 0.25, 0.35], [False, True, False]),  # no more work
        ([100, 10], [0.15, 0.25], [False, True]),  # less work, at a higher cost
        ([1, 10], [0.05, 0.09], [False, False]),  # a command that does next to nothing is noise
    ],
)
def test_a_cost_that_grows_faster_than_its_work_is_a_bend(
    work: list[float], cpu: list[float], bends: list[bool]
) -> None:
    assert curve(work, cpu).bends(0.05) == bends


def test_a_peer_without_its_tools_is_left_out_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    for peer in (optional.franz, optional.java):
        peer.cache_clear()
    assert optional.franz_line("consume", "h:1", "t") is None
    assert optional.java_line("consume", "h:1", "t", 1) is None
    assert optional.versions() == []
    said = capsys.readouterr().err
    assert "franz-go: not measured: go is not on the PATH" in said
    assert "Kafka's console tools: not measured: java is not on the PATH" in said
    for peer in (optional.franz, optional.java):
        peer.cache_clear()


ROW = Job("consume", Data("text", "100 B", 1000))


def test_a_ratio_without_start_up_is_of_what_is_left_of_both() -> None:
    found = {"kcli": [(Run(1, 0.3, 10, 0), 1000)], "kcat": [(Run(1, 0.5, 10, 0), 1000)]}
    starts = {"kcli consume, 10 records": [Run(1, 0.2, 10, 0)], "kcat -C, 10 records": [Run(1, 0.1, 10, 0)]}
    assert report.apart(ROW, found, starts) == "4.0×"
    assert report.apart(ROW, {"kcli": found["kcli"]}, starts) == ""


def test_a_group_of_two_costs_what_both_do_and_its_slowest_takes_its_time() -> None:
    rounds = [[Run(2.0, 0.25, 40, 0), Run(3.0, more, 45, 0)] for more in (0.75, 1.25, 0.5)]
    text = group.table({("kcli", 2): rounds}, {"kcli": [400, 600]}, 1000)
    assert text.endswith("| kcli, 2 processes | 1000000 | 750000 – 1500000 | 3.0 | 45 | 400 + 600 |\n")


@each(
    ("file", "placed"),
    [
        ("/x/kcli/proto/batch.py", ("kcli/proto", "kcli/proto/batch.py")),
        ("/x/python3/asyncio/events.py", (sampled.LOOP, "asyncio/events.py")),
        ("/x/python3/selectors.py", (sampled.LOOP, "selectors.py")),
        ("/x/site-packages/lz4/frame.py", ("other libraries", "lz4/frame.py")),
    ],
)
def test_a_sample_counts_for_a_layer(file: str, placed: tuple[str, str]) -> None:
    assert sampled.place(file) == placed


def test_the_page_of_samples_has_shares_of_each_row() -> None:
    samples = where.Samples()
    samples.add({"layers": {"start-up": 1, "kcli/proto": 2}, "functions": {"start-up": 1, "f (kcli/proto/x.py)": 2}})
    samples.add({"layers": {"kcli/text": 1}, "functions": {"g (kcli/text/y.py)": 1}})
    page = where.page([(ROW, samples)])
    assert "| consume 100 B (1,000) | 4 | 25 | 0 | 50 | 0 | 0 | 0 | 0 | 25 |" in page
    assert "- 50 f (kcli/proto/x.py)\n- 25 start-up\n" in page


def test_the_page_says_of_each_goal_whether_it_is_held_and_what_stops_it() -> None:
    part = goals.section(PAGE)
    assert part in PAGE, "python -m benchmarks.goals"
    short = [goal for goal in goals.goals(goals.Page(PAGE)) if not goal.held]
    assert short, "a page on which all is held has no need of bounds"
    for goal in short:
        assert goal.bound, f"{goal.what}: nothing says what stops it"


@each(
    ("figure", "goal", "at_least", "held"),
    [
        (0.2001, 0.2, False, True),  # as it is printed
        (0.204, 0.2, False, False),
        (1.996, 2, True, True),
        (1.99, 2, True, False),
    ],
)
def test_a_goal_is_held_by_the_figure_as_it_is_printed(figure: float, goal: float, at_least: bool, held: bool) -> None:
    assert goals.Goal("a row", figure, goal, "", "its bound", at_least).held is held


@each(
    ("second", "bends", "asked"),
    [
        ([0.15, 0.16, 0.16], False, [[0, 1]]),  # what is measured twice as slow once is the machine's
        ([0.10, 0.35, 0.40], True, [[0, 1]] * AGAIN),  # the same again is kcli's
    ],
)
def test_a_bend_is_measured_again_before_it_is_called_one(
    second: list[float], bends: bool, asked: list[list[int]]
) -> None:
    measured: list[list[int]] = []

    def again(places: list[int]) -> dict[str, Curve]:
        measured.append(places)
        return {"x": Curve("x", places, [1.0] * len(places), curve([1.0] * 3, second).runs[: len(places)])}

    found = confirmed({"x": curve([1.0] * 3, [0.15, 0.35, 0.17])}, again, 0.05)["x"]
    assert any(found.bends(0.05)) == bends
    assert measured == asked
    assert found.runs[2].cpu == 0.17, "a place without a bend is not measured again"


def test_no_cost_grows_faster_than_its_work() -> None:
    page = (Path(__file__).parents[2] / "docs" / "curves.md").read_text()
    tables = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(tables) >= 19
    assert not [line for line in tables if "**" in line], "make bench-scale"
    assert {axis for axis in AXES if f"## {axis}" in page} == set(AXES)


def test_kcat_is_idempotent_in_the_row_that_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchmarks.cases._optional", lambda *_: {})  # those of Go and Java, which may be missing
    for job in jobs(1.0):
        if job.verb == "produce":
            programs = commands(job, "b", "t")
            assert ("enable.idempotence=true" in programs["kcat"][0]) == job.label.endswith(", idempotent"), job.label
            assert "enable.idempotence=true" not in programs["kcli"][0], job.label
