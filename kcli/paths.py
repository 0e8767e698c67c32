"""Where kcli keeps files, by the XDG Base Directory Specification; what is private is for this user alone.

Each folder is `kcli` in an environment variable's folder, or in the usual one, if it is there already; else in the one
that the system has for it (as platformdirs, which costs more to import than to write):

                    variable          usual            macOS: ~/Library/…      Windows: %LOCALAPPDATA%
    config_folder   XDG_CONFIG_HOME   ~/.config        Application Support     kcli           config.toml, keys.toml
    state_folder    XDG_STATE_HOME    ~/.local/state   Application Support     kcli/State     the journal, logs, jobs
    cache_folder    XDG_CACHE_HOME    ~/.cache         Caches                  kcli/Cache     names, class-data archives
    data_folder     XDG_DATA_HOME     ~/.local/share   Application Support     kcli/Data      checkpoints of pipelines

Nothing is created here. Folders of private files are created with mode 700, the files with `private` (mode 600).
"""

from __future__ import annotations

import os

from kcli import system


def config_folder() -> str:
    """What the user writes."""
    return _folder("XDG_CONFIG_HOME", ".config", "Application Support/kcli", "")


def state_folder(name: str) -> str:
    """What outlives a run and belongs to this machine; `name` is a folder of its own in it."""
    return os.path.join(_folder("XDG_STATE_HOME", ".local/state", "Application Support/kcli/State", "State"), name)


def cache_folder() -> str:
    """What can be deleted at any time."""
    return _folder("XDG_CACHE_HOME", ".cache", "Caches/kcli", "Cache")


def data_folder(name: str) -> str:
    """What must not be lost; `name` is a folder of its own in it."""
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
    """The `opener` of `open` that creates a file with mode 600: no other user of the machine may read it."""
    return os.open(path, flags, 0o600)
