"""Where kcli keeps files, by the XDG Base Directory Specification; what is private is for this user alone.

Each folder is `kcli` in an environment variable's folder, or in the usual one:

    config_folder   XDG_CONFIG_HOME   ~/.config        config.toml, keys.toml
    state_folder    XDG_STATE_HOME    ~/.local/state   undo files, snapshots, logs, jobs
    cache_folder    XDG_CACHE_HOME    ~/.cache         names for completion, class-data archives
    data_folder     XDG_DATA_HOME     ~/.local/share   checkpoints of pipelines

Nothing is created here. Folders of private files are created with mode 700, the files with `private` (mode 600).
"""

from __future__ import annotations

import os


def config_folder() -> str:
    """What the user writes."""
    return _folder("XDG_CONFIG_HOME", ".config")


def state_folder(name: str) -> str:
    """What outlives a run and belongs to this machine; `name` is a folder of its own in it."""
    return os.path.join(_folder("XDG_STATE_HOME", ".local/state"), name)


def cache_folder() -> str:
    """What can be deleted at any time."""
    return _folder("XDG_CACHE_HOME", ".cache")


def data_folder(name: str) -> str:
    """What must not be lost; `name` is a folder of its own in it."""
    return os.path.join(_folder("XDG_DATA_HOME", ".local/share"), name)


def _folder(variable: str, usual: str) -> str:
    home = os.environ.get(variable) or os.path.join(os.path.expanduser("~"), *usual.split("/"))
    return os.path.join(home, "kcli")


def private(path: str, flags: int) -> int:
    """The `opener` of `open` that creates a file with mode 600: no other user of the machine may read it."""
    return os.open(path, flags, 0o600)
