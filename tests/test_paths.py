"""The folders of kcli's files, by the environment; no module but kcli/paths.py reads it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from kcli import system
from kcli.config.profiles import user_file
from kcli.paths import cache_folder, config_folder, data_folder, private, state_folder

ROOT = Path(__file__).parent.parent
MAC = "Library/Application Support"
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


@pytest.mark.parametrize(
    ("name", "config", "cache", "state"),
    [
        (
            "MACOS",
            "Library/Application Support/kcli",
            "Library/Caches/kcli",
            "Library/Application Support/kcli/State/x",
        ),
        ("WINDOWS", "AppData/Local/kcli", "AppData/Local/kcli/Cache", "AppData/Local/kcli/State/x"),
    ],
)
def test_other_systems_have_folders_of_their_own_unless_the_usual_one_is_there(
    name: str, config: str, cache: str, state: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in (*FOLDERS, "LOCALAPPDATA", "KCLI_CONFIG"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(system, name, True)
    assert [config_folder(), cache_folder(), state_folder("x")] == [f"{tmp_path}/{at}" for at in (config, cache, state)]
    assert user_file() == f"{tmp_path}/{config}/config.toml"
    (tmp_path / ".config/kcli").mkdir(parents=True)
    assert config_folder() == f"{tmp_path}/.config/kcli"
    monkeypatch.setenv("XDG_CONFIG_HOME", "/elsewhere")
    assert config_folder() == "/elsewhere/kcli"


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
