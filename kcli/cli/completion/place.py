"""A place in an unfinished command line, and what it may contain."""

from __future__ import annotations

from kcli.cli.parsing.command import Line
from kcli.cli.parsing.groups import ConnectionOptions
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.parsing.option import Option

    Offer = tuple[str, str]

REGISTRY = "schema_registry"
"""The option of that name, in each command that has it."""
INSIDE = "._-:/@+,="
"""The characters of a word besides letters and digits: nothing that bash, zsh or fish would act on."""


class Place(Value):
    """What the last word may be: `offers` that are known already, and names of a `kind` (see complete_names), each
    behind `prefix`. `line` is the text before it; `option` is the one whose value it is."""

    offers: list[Offer] = field(factory=list)
    kind: str = ""
    prefix: str = ""
    text: str = ""  # what was typed of the value itself
    option: Option | None = None
    line: Line = field(factory=Line)
    command: str = ""  # as `kcli schema` calls it: topics.list

    @property
    def connection(self) -> ConnectionOptions:
        """Which cluster the words before name."""
        known = ConnectionOptions.names
        return ConnectionOptions(**{name: value for name, value in self.line.values.items() if name in known})

    @property
    def registry(self) -> str:
        """The address of the schema registry that the words before name, "" for none."""
        given = self.line.values.get(REGISTRY)
        return given if isinstance(given, str) else ""


def safe(word: str) -> bool:
    """Whether a word means itself in every shell: letters, digits and INSIDE, and it does not begin as an
    option or as zsh's `=command`."""
    return bool(word) and word[0] != "=" and all(char.isalnum() or char in INSIDE for char in word)
