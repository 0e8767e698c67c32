"""The folders of kcli's files, by the environment; no module but kcli/paths.py reads it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from kcli.paths import cache_folder, config_folder, data_folder, private, state_folder

ROOT = Path(__file__).parent.parent
FOLDERS = {
    "XDG_CONFIG_HOME": (config_folder, ".config", ""),
    "XDG_CACHE_HOME": (cache_folder, ".cache", ""),
    "XDG_STATE_HOME": (lambda: state_folder("undo"), ".local/state", "/undo"),
    "XDG_DATA_HOME": (lambda: data_folder("pipelines"), ".local/share", "/pipelines"),
}


@pytest.mark.parametrize("variable", FOLDERS)
def test_a_folder_is_named_by_its_variable_else_in_the_home(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, usual, below = FOLDERS[variable]
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv(variable, "/elsewhere")
    assert folder() == f"/elsewhere/kcli{below}"
    for unset in ("", None):
        monkeypatch.setenv(variable, "") if unset == "" else monkeypatch.delenv(variable)
        assert folder() == f"/home/me/{usual}/kcli{below}"


def test_a_private_file_has_mode_600_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with open(tmp_path / "file", "x", opener=private):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


def test_no_other_module_builds_these_paths() -> None:
    builds = re.compile(r"environ.*XDG_(STATE|CACHE|DATA)_HOME|[\"']\.(config|cache|local)[\"']")
    modules = [path for path in (ROOT / "kcli").rglob("*.py") if path.name != "paths.py"]
    assert [str(path) for path in modules if builds.search(path.read_text())] == []
