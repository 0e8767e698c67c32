"""Where kcli keeps files, following the XDG Base Directory Specification. Private files are readable by their owner
only.

Each folder is named `kcli`, in the folder of an environment variable, or in the usual one if it exists there already,
or else in the system's folder for that purpose (as in platformdirs, which costs more to import than this to write):

    variable          usual            macOS: ~/Library/…      Windows: %LOCALAPPDATA%
    config_folder   XDG_CONFIG_HOME   ~/.config        Application Support     kcli           config.toml, keys.toml
    state_folder    XDG_STATE_HOME    ~/.local/state   Application Support     kcli/State     the journal, logs, jobs
    cache_folder    XDG_CACHE_HOME    ~/.cache         Caches                  kcli/Cache     names, class-data archives
    data_folder     XDG_DATA_HOME     ~/.local/share   Application Support     kcli/Data      checkpoints of pipelines

These functions create nothing. Callers create folders of private files with mode 700, and files with `private` (600).
"""

from __future__ import annotations

import os

from kcli import system


def config_folder() -> str:
    """Folder of files that the user writes."""
    return _folder("XDG_CONFIG_HOME", ".config", "Application Support/kcli", "")


def state_folder(name: str) -> str:
    """Folder of machine-specific files that are kept between runs; `name` is a subfolder."""
    return os.path.join(_folder("XDG_STATE_HOME", ".local/state", "Application Support/kcli/State", "State"), name)


def cache_folder() -> str:
    """Folder of files that can be deleted at any time."""
    return _folder("XDG_CACHE_HOME", ".cache", "Caches/kcli", "Cache")


def data_folder(name: str) -> str:
    """Folder of files that must not be lost; `name` is a subfolder."""
    return os.path.join(_folder("XDG_DATA_HOME", ".local/share", "Application Support/kcli/Data", "Data"), name)


def _folder(variable: str, usual: str, mac: str, windows: str) -> str:
    named, home = os.environ.get(variable), os.path.expanduser("~")
    if named:
        return os.path.join(named, "kcli")
    folder = os.path.join(home, *usual.split("/"), "kcli")
    if not (system.MACOS or system.WINDOWS) or os.path.isdir(folder):
        return folder
    if system.MACOS:
        return os.path.join(home, "Library", *mac.split("/"))
    local = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    return os.path.join(local, "kcli", windows) if windows else os.path.join(local, "kcli")


def private(path: str, flags: int) -> int:
    """`opener` for `open` that creates files with mode 600, so that other users cannot read them."""
    return os.open(path, flags, 0o600)
