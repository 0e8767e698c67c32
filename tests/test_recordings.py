"""docs/recordings: what is recorded still runs, and `make recordings` writes it the same each time."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests import recordings
from tests.each import each


def rows(path: Path) -> list[list[object]]:
    """The events of an asciicast."""
    head, *events = (json.loads(line) for line in path.read_text().splitlines())
    assert (head["version"], head["width"], head["height"]) == (2, recordings.WIDTH, recordings.HEIGHT)
    return events


def lines(path: Path) -> list[str]:
    return [str(text) for _, kind, text in rows(path) if kind == "m"]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recordings")
    recordings.write(folder)
    return folder


@each("name", recordings.RECORDINGS)
def test_a_recording_has_its_lines_and_what_they_print(written: Path, name: str) -> None:
    path = written / f"{name}.cast"
    assert lines(path) == list(recordings.RECORDINGS[name].lines)
    times = [float(str(when)) for when, _, _ in rows(path)]
    assert times == sorted(times)
    text = "".join(ElementTree.parse(written / f"{name}.svg").getroot().itertext()).replace("\xa0", " ")
    for line in lines(path):
        assert line[:80] in text
    assert "customer-8" in text or "reset" in text


@each("name", recordings.RECORDINGS)
def test_a_recording_that_is_committed_has_the_lines_of_today(name: str) -> None:
    assert lines(recordings.FOLDER / f"{name}.cast") == list(recordings.RECORDINGS[name].lines)
    assert (recordings.FOLDER / f"{name}.svg").exists()


@each("name", recordings.DASHBOARD)
def test_a_recording_of_the_dashboard_shows_what_its_keys_do(written: Path, name: str) -> None:
    session = recordings.DASHBOARD[name]
    for path in (written / f"{name}.cast", recordings.FOLDER / f"{name}.cast"):
        assert lines(path) == list(session.lines)
    svg = ElementTree.parse(written / f"{name}.svg").getroot()
    steps = [one for one in svg if one.get("class", "").startswith("step")]
    for step, (_, words) in zip(steps, session.steps, strict=True):
        assert words in "".join(step.itertext()).replace("\xa0", " ")


def test_no_recording_is_left_of_what_is_not_recorded() -> None:
    known = recordings.RECORDINGS.keys() | recordings.DASHBOARD.keys()
    assert {path.stem for path in recordings.FOLDER.iterdir()} == known


@pytest.mark.slow
def test_recordings_are_the_same_bytes_each_time(written: Path, tmp_path: Path) -> None:
    recordings.write(tmp_path)
    for path in written.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_line_that_fails_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="kcli topics delete absent"):
        recordings.record(recordings.Recording("x", (), ("kcli topics delete absent --execute",)), tmp_path)
