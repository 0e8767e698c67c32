"""What a TAB asks a cluster."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.parsing.groups import ConnectionOptions

    About = tuple[str, str]


class Question:
    """What a child is to ask."""

    __slots__ = ("about", "kind", "options")

    def __init__(self, kind: str, options: ConnectionOptions, about: About) -> None:
        self.kind, self.options, self.about = kind, options, about
