"""Profiles: named clusters in `config.toml` of the user and `.kcli.toml` of a project. They are read, never written.

    default_profile = "dev"

    [profiles.prod]
    bootstrap = "kafka-1:9092,kafka-2:9092"
    read_only = true            # what would change the cluster is refused; protected = true: what deletes or alters
    client.id = "me"            # any property that -X knows

A project's profile replaces the user's of the same name as a whole: what a stranger's project file says never meets
the secrets of the user's. The project file is looked for from the working directory up to the git root; without a git
root only in the working directory.
"""

from __future__ import annotations

import os

from kcli.errors import UsageError
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

PROJECT = ".kcli.toml"
FLAGS = ("read_only", "protected")
TOP = ("default_profile", "profiles")
SERVERS = ("bootstrap", "bootstrap_servers")


class Profile(Frozen):
    """One profile: `where` names it in errors, `properties` are as -X has them, `guard` is "", read_only or
    protected."""

    name: str = ""
    where: str = ""
    bootstrap: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    guard: str = ""


def user_file() -> str:
    """KCLI_CONFIG, else kcli/config.toml in XDG_CONFIG_HOME or ~/.config."""
    named = os.environ.get("KCLI_CONFIG")
    if named:
        return named
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(home, "kcli", "config.toml")


def project_file() -> str | None:
    """The project's file, when there is one."""
    try:
        start = here = os.getcwd()
    except OSError:
        return None  # the directory is gone, and its project with it
    first = os.path.join(start, PROJECT)
    found = first if os.path.isfile(first) else None
    while True:
        candidate = os.path.join(here, PROJECT)
        if found is None and os.path.isfile(candidate):
            found = candidate
        if os.path.exists(os.path.join(here, ".git")):
            return found
        above = os.path.dirname(here)
        if above == here:
            return first if os.path.isfile(first) else None
        here = above


def chosen(name: str | None) -> Profile | None:
    """The profile of that name, else of KCLI_PROFILE, else the files' default_profile; None where nothing names one.
    Raises UsageError for an unknown one, with the nearest name, and for a file that says what it cannot."""
    name = name or os.environ.get("KCLI_PROFILE") or None
    paths = [path for path in (project_file(), user_file()) if path and os.path.isfile(path)]
    named = os.environ.get("KCLI_CONFIG")
    if named and named not in paths:
        raise UsageError(f"KCLI_CONFIG: there is no file {named}")
    if name is None and not any(b"default_profile" in _bytes(path) for path in paths):
        return None  # it is not worth a parser
    documents = [(path, _document(path)) for path in paths]
    about = ""
    if name is None:
        defaults = [
            (path, str(document["default_profile"])) for path, document in documents if "default_profile" in document
        ]
        if not defaults:
            return None
        about, name = f"{defaults[0][0]}: default_profile: ", defaults[0][1]
    return _find(name, documents, about)


def _find(name: str, documents: list[tuple[str, dict[str, Any]]], about: str) -> Profile:
    for path, document in documents:
        found = document.get("profiles", {}).get(name)
        if found is not None:
            return _profile(name, found, path)
    names = [one for _, document in documents for one in document.get("profiles", {})]
    hint = _nearest(name, names) or (f"; there are {', '.join(dict.fromkeys(names))}" if names else "")
    where = "" if names else f": none is defined in {user_file()} or {PROJECT}"
    raise UsageError(f"{about}there is no profile {name}{hint}{where}")


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as problem:
        raise UsageError(f"{path}: {problem.strerror}") from None


def _document(path: str) -> dict[str, Any]:
    """A file's contents, checked as far as every profile needs it."""
    import tomllib

    try:
        document = tomllib.loads(_bytes(path).decode())
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is not UTF-8 text") from None
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise UsageError(f"{path}: is not TOML: {problem}") from None
    for key, value in document.items():
        if key not in TOP:
            raise UsageError(f"{path}: {key} is no key of this file{_nearest(key, TOP)}")
        if key == "default_profile" and not isinstance(value, str):
            raise UsageError(f"{path}: default_profile is a text")
        if key == "profiles" and not (isinstance(value, dict) and all(isinstance(v, dict) for v in value.values())):
            raise UsageError(f"{path}: profiles are tables: [profiles.NAME]")
    return document


def _profile(name: str, table: dict[str, Any], path: str) -> Profile:
    where = f"{path}: profile {name}"
    guard, servers = "", None
    properties = []
    for key, value in _flat("", table, where):
        if key in FLAGS:
            if not isinstance(value, bool):
                raise UsageError(f"{where}: {key} is true or false")
            if value and guard != "read_only":  # the stricter one, where both are set
                guard = key
        elif key in SERVERS:
            servers = _text(value)
        else:
            properties.append((key, _text(value)))
    return Profile(name=name, where=where, bootstrap=servers, properties=tuple(properties), guard=guard)


def _flat(prefix: str, table: dict[str, Any], where: str) -> Iterable[tuple[str, Any]]:
    """`client.id = …` is a table in a table for TOML and one key for us."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{key}.", value, where)
        elif isinstance(value, str | int | float | list):
            yield f"{prefix}{key}", value
        else:
            raise UsageError(f"{where}: {prefix}{key} is a text, a number, true, false or a list")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(_text, value)) if isinstance(value, list) else str(value)


def _nearest(name: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, list(dict.fromkeys(names)), n=3)
    return f"; did you mean {' or '.join(near)}?" if near else ""
