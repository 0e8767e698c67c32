"""What files declare.

A file is the truth about what it names and says nothing about the rest: what no file names is left alone, unless
pruning is asked for and it lies within a file's scope.
"""

from __future__ import annotations

from kcli.acls import Acl
from kcli.admin.configs import Resource
from kcli.admin.quotas import Entity
from kcli.config.secrets.sources import Source
from kcli.schemas import Schema
from kcli.values import Frozen, Value, field


class Setting(Frozen):
    """A declared value and where it is declared (`file:line`). A secret is a Source, which is looked up when it is
    sent."""

    value: str | Source = ""
    place: str = ""


class Settings(Value):
    """Values by name, and the names whose override is to be removed."""

    values: dict[str, Setting] = field(factory=dict)
    inherit: dict[str, str] = field(factory=dict)  # name to place
    place: str = ""


class Topic(Value):
    """A declared topic; None where the file does not say."""

    partitions: int | None = None
    replication: int | None = None
    settings: Settings = field(factory=Settings)
    place: str = ""


class Login(Value):
    """A declared SCRAM credential. Without `password` it can be compared, not made."""

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
    """All files together. `absent` is by section what must not exist, `scope` by section the patterns of what the
    files speak for."""

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
        """Is this within the scope of the files? What begins with _ only is by a pattern that does, too, and what
        begins with __ never."""
        from fnmatch import fnmatchcase

        if name.startswith("__"):
            return False
        patterns = self.scope.get(section, ())
        return any(
            fnmatchcase(name, pattern) for pattern in patterns if not name.startswith("_") or pattern.startswith("_")
        )
