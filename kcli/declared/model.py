"""The content of declaration files.

A file is authoritative for what it names, and says nothing about the rest: anything not named in a file is left alone,
unless pruning is requested and it lies within a file's scope.
"""

from __future__ import annotations

from kcli.acls import Acl
from kcli.admin.configs import Resource
from kcli.admin.quotas import Entity
from kcli.config.secrets.sources import Source
from kcli.schemas import Schema
from kcli.values import Frozen, Value, field


class Setting(Frozen):
    """A declared value and where it is declared (`file:line`). A secret is a Source, which is resolved when it
    is sent."""

    value: str | Source = ""
    place: str = ""


class Settings(Value):
    """Values by name, and the names whose override is to be removed."""

    values: dict[str, Setting] = field(factory=dict)
    inherit: dict[str, str] = field(factory=dict)  # name to place
    place: str = ""


class Topic(Value):
    """A declared topic; None for what the file does not set."""

    partitions: int | None = None
    replication: int | None = None
    settings: Settings = field(factory=Settings)
    place: str = ""


class Login(Value):
    """A declared SCRAM credential. Without `password` it can be compared, but not created."""

    iterations: int | None = None
    password: Source | None = None
    place: str = ""


class Subject(Value):
    """A declared subject of a schema registry. Without a text only its level is declared; a reference without a version
    has -1: the latest."""

    schema: Schema = Schema()
    level: str | None = None
    place: str = ""


class Declared(Value):
    """All files together. `absent` has by section what must not exist, `scope` by section the patterns of names that
    the files cover."""

    topics: dict[str, Topic] = field(factory=dict)
    configs: dict[Resource, Settings] = field(factory=dict)
    users: dict[tuple[str, str], Login] = field(factory=dict)  # by name and mechanism
    quotas: dict[Entity, Settings] = field(factory=dict)
    acls: dict[Acl, str] = field(factory=dict)  # to place
    schemas: dict[str, Subject] = field(factory=dict)
    absent_topics: dict[str, str] = field(factory=dict)
    absent_users: dict[tuple[str, str], str] = field(factory=dict)
    absent_acls: dict[Acl, str] = field(factory=dict)
    absent_schemas: dict[str, str] = field(factory=dict)
    scope: dict[str, list[str]] = field(factory=dict)

    def selected(self, section: str, name: str) -> bool:
        """Whether a name is within the scope of the files. Names that begin with _ only match patterns that do, too;
        names that begin with __ never match."""
        from fnmatch import fnmatchcase

        if name.startswith("__"):
            return False
        patterns = self.scope.get(section, ())
        return any(
            fnmatchcase(name, pattern) for pattern in patterns if not name.startswith("_") or pattern.startswith("_")
        )
