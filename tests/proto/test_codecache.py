"""Compiled codecs are kept, are never stale, and are not needed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kcli.proto import compile as codecache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(codecache, "FOLDER", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path


def value(found: object) -> object:
    names: dict[str, object] = {}
    exec(found, names)  # type: ignore[arg-type]
    return names["x"]


def test_what_was_stored_is_loaded(folder: Path) -> None:
    codecache.store_code("M-1-w", "x = 1\n", compile("x = 1\n", "<test>", "exec"))
    assert value(codecache.load_code("M-1-w", "x = 1\n")) == 1


def test_another_source_is_not_answered_with_the_old_code(folder: Path) -> None:
    codecache.store_code("M-1-w", "x = 1\n", compile("x = 1\n", "<test>", "exec"))
    assert codecache.load_code("M-1-w", "x = 2\n") is None


@pytest.mark.parametrize("damage", [b"", b"\x00", b"garbage", b"(\x02\x00\x00\x00"])
def test_a_torn_file_is_as_good_as_none(folder: Path, damage: bytes) -> None:
    codecache.store_code("M-1-w", "x = 1\n", compile("x = 1\n", "<test>", "exec"))
    (file,) = folder.iterdir()
    file.write_bytes(damage)
    assert codecache.load_code("M-1-w", "x = 1\n") is None


def test_a_folder_that_is_not_there_means_no_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecache, "FOLDER", str(folder / "absent"))
    codecache.store_code("M-1-w", "x = 1\n", compile("x = 1\n", "<test>", "exec"))
    assert codecache.load_code("M-1-w", "x = 1\n") is None


def test_nothing_is_written_when_python_writes_no_bytecode(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    codecache.store_code("M-1-w", "x = 1\n", compile("x = 1\n", "<test>", "exec"))
    assert list(folder.iterdir()) == []
