"""Resolves secrets of declared values, each once, when it is about to be sent."""

from __future__ import annotations

from kcli.config.secrets.sources import Source
from kcli.declared.model import Setting
from kcli.secret import Secret

HIDDEN = "***"


class Secrets:
    """The secrets of one run; `warnings` are about the places where they are stored."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._found: dict[Source, Secret] = {}

    def secret(self, source: Source, place: str) -> Secret:
        """Raises UsageError that begins with the place."""
        if source not in self._found:
            self._found[source] = Secret(source.resolve(place, self.warnings.append))
        return self._found[source]

    def text(self, setting: Setting) -> str:
        """Return a value as it is sent. Raises UsageError."""
        value = setting.value
        return value if isinstance(value, str) else self.secret(value, setting.place).reveal()


def table(source: Source) -> dict[str, object]:
    """Return a source in the form of a file."""
    return {source.kind: source.what[0] if len(source.what) == 1 else list(source.what)}
