"""Other tools' configuration files as properties: kcat, kaf, kafkactl, kcl, rpk, and Java's .properties."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from kcli.cli.commands.config.importing.readers import ForeignCluster, kaf, kafkactl, kcl, rpk
from kcli.cli.documents.input_file import read_text
from kcli.errors import UsageError
from kcli.system.files import SETTINGS
from kcli.values import Value, field

PLACES = {
    "kcat": ("$KCAT_CONFIG", "$KAFKACAT_CONFIG", "~/.config/kcat.conf", "~/.config/kafkacat.conf"),
    "kaf": ("~/.kaf/config",),
    "kafkactl": ("$KAFKA_CTL_CONFIG", "~/.config/kafkactl/config.yml", "~/.kafkactl/config.yml",
                 "/etc/kafkactl/config.yml"),
    "kcl": ("$KCL_CONFIG_PATH", "$KCL_CONFIG_DIR/config.toml", "~/.config/kcl/config.toml",
            "~/Library/Application Support/kcl/config.toml"),
    "rpk": ("~/.config/rpk/rpk.yaml", "~/Library/Application Support/rpk/rpk.yaml"),
    "properties": (),
}  # fmt: skip

NOTHING = {"ssl.endpoint.identification.algorithm": "none"}
"""Properties that say something by saying nothing, and the word for it."""


class FoundCluster(Value):
    """A cluster in another tool's file. `problem` says why the file cannot be used."""

    tool: str = ""
    path: str = ""
    cluster: ForeignCluster = field(factory=ForeignCluster)
    problem: str = ""

    @property
    def words(self) -> list[str]:
        """The command line that makes it a profile."""
        file = [self.path] if self.tool == "properties" else []
        return ["kcli", "config", "import", self.tool, *file, "--only", self.cluster.name, "--write"]


def discover() -> list[FoundCluster]:
    """The clusters that other tools know on this machine, and those of `*.properties` in the working directory."""
    files = [(kind, path) for kind in PLACES if (path := _existing(kind))]
    files += [("properties", name) for name in sorted(os.listdir()) if name.endswith(".properties")]
    found = []
    for kind, path in files:
        try:
            clusters = read(kind, path, os.path.splitext(path)[0] if kind == "properties" else kind)
        except UsageError as problem:
            found.append(FoundCluster(tool=kind, path=path, problem=str(problem)))
            continue
        found += [FoundCluster(tool=kind, path=path, cluster=one) for one in clusters if one.bootstrap]
    return found


def _existing(kind: str) -> str:
    """The path of a tool's configuration file, "" where there is none."""
    for where in PLACES[kind]:
        path = os.path.expanduser(where)
        if where[0] == "$":
            variable, slash, rest = where[1:].partition("/")
            path = os.environ.get(variable, "") and os.environ[variable] + slash + rest
        if path and os.path.isfile(path):
            return path
    return ""


def place(kind: str) -> str:
    """The path of a tool's configuration file. Raises UsageError when it does not exist."""
    if path := _existing(kind):
        return path
    places = ", ".join(PLACES[kind]) or "nowhere in particular"
    raise UsageError(f"no configuration file of {kind} ({places}): kcli config import {kind} FILE")


def guess(path: str) -> str:
    """The tool that a file is of, by its name. Raises UsageError."""
    name = os.path.basename(path)
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    if name.endswith(".properties"):
        return "properties"
    for kind in ("kafkactl", "kcat", "kafkacat", "rpk", "kcl"):
        if kind in name or folder.lstrip(".") == kind:
            return "kcat" if kind == "kafkacat" else kind
    if folder == ".kaf":
        return "kaf"
    raise UsageError(f"{path}: missing tool: kcli config import kcat|kaf|kafkactl|kcl|rpk|properties FILE")


def read(kind: str, path: str, name: str) -> list[ForeignCluster]:
    """The clusters of a file; `name` is for files that name none. Raises UsageError."""
    if kind in ("kcat", "properties"):
        return [_properties(path, name)]
    text = read_text(path, SETTINGS)
    reader: Callable[[Any], list[ForeignCluster]] = {"kaf": kaf, "kafkactl": kafkactl, "kcl": kcl, "rpk": rpk}[kind]
    try:
        clusters = reader(_parsed(kind, text, path))
    except (AttributeError, TypeError, KeyError):
        raise UsageError(f"{path}: this is not a configuration file of {kind}") from None
    if not clusters:
        raise UsageError(f"{path}: the file names no cluster")
    for cluster in clusters:
        cluster.name = cluster.name or name
    return clusters


def _parsed(kind: str, text: str, path: str) -> Any:
    if kind != "kcl":
        from kcli.cli.documents.yaml_reader import load

        return load(text, path) or {}
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise UsageError(f"{path}: is not TOML: {problem}") from None


def _properties(path: str, name: str) -> ForeignCluster:
    """Drop properties that kcli does not have, and report them."""
    from kcli.config.properties.files import lines_of
    from kcli.config.properties.known import KNOWN, SERVERS
    from kcli.config.properties.names import SECURITY

    cluster = ForeignCluster(name=name)
    for _, key, text in lines_of(path):
        if key in SERVERS:
            cluster.bootstrap = text
        elif key in KNOWN or key in SECURITY:
            cluster.put(key, text or NOTHING.get(key, ""))
        else:
            cluster.left_out.append(key)
    return cluster
