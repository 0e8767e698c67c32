"""As much YAML as other tools' configuration files have: maps, lists, scalars, quotes, block texts, brackets (and so
JSON).

What is beyond (anchors, tags, several documents) is refused with its line, never guessed. Scalars are texts, but for
true, false and null.
"""

from __future__ import annotations

from kcli.cli.documents.yaml_text import colon, uncommented, unescaped
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
DEEPEST = 40


def load(text: str, path: str) -> Any:
    """The document. Raises UsageError with file and line."""
    return _Reader(text, path).document()


class Map(dict[str, "Any"]):
    """A map that knows in which line each of its keys stands."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}


class _Reader:
    def __init__(self, text: str, path: str) -> None:
        self._path = path
        self._all = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._at = 0

    def document(self) -> Any:
        if self._peek() is not None and self._all[self._at].strip() == "---":
            self._at += 1
        line = self._peek()
        value = None if line is None else self._block(line[0], 0)
        if self._peek() is not None:
            raise self._wrong("this does not belong to what stands above")
        return value

    def _wrong(self, why: str) -> UsageError:
        return UsageError(f"{self._path}:{self._at + 1}: {why}")

    def _peek(self) -> tuple[int, str] | None:
        """(indentation, text) of the next line that says something."""
        while self._at < len(self._all):
            line = self._all[self._at]
            text = uncommented(line).rstrip()
            if text.strip():
                if "\t" in line[: len(line) - len(line.lstrip())]:
                    raise self._wrong("YAML is indented with spaces")
                return len(text) - len(text.lstrip()), text.strip()
            self._at += 1
        return None

    def _block(self, indent: int, depth: int) -> Any:
        if depth > DEEPEST:
            raise self._wrong("this is nested too deeply")
        line = self._peek()
        assert line is not None
        if line[1] == "-" or line[1].startswith("- "):
            return self._list(indent, depth)
        if line[1][0] in "{[" or colon(line[1]) < 0:
            value = self._scalar(line[1])
            self._at += 1
            return value
        return self._map(indent, depth)

    def _list(self, indent: int, depth: int) -> list[Any]:
        found = []
        while (line := self._peek()) is not None and line[0] == indent and (line[1] == "-" or line[1][:2] == "- "):
            rest = line[1][1:].lstrip()
            if not rest:
                self._at += 1
                found.append(self._below(indent, depth))
            elif rest[:2] == "- ":
                raise self._wrong("a list in a list on one line is not read here")
            elif rest[0] not in "\"'[{" and colon(rest) >= 0:
                inner = indent + len(line[1]) - len(rest)
                self._all[self._at] = " " * inner + rest  # the map goes on below, as far to the right
                found.append(self._map(inner, depth + 1))
            else:
                found.append(self._scalar(rest))
                self._at += 1
        return found

    def _map(self, indent: int, depth: int) -> dict[str, Any]:
        found = Map()
        while (line := self._peek()) is not None and line[0] == indent:
            cut = colon(line[1])
            if cut < 0:
                raise self._wrong("expected KEY: VALUE")
            key, rest = str(self._scalar(line[1][:cut].strip(), word=False)), line[1][cut + 1 :].strip()
            if key in found:
                raise self._wrong(f"{key} stands here twice")
            found.lines[key] = self._at + 1
            if rest and not (rest[0] in "|>" and rest.rstrip("+-0123456789") in ("|", ">")):
                found[key] = self._scalar(rest)
                self._at += 1
                continue
            self._at += 1
            found[key] = self._text(indent, rest) if rest else self._below(indent, depth, lists=True)
        if (line := self._peek()) is not None and line[0] > indent:
            raise self._wrong("this is indented more than its neighbours")
        return found

    def _below(self, indent: int, depth: int, *, lists: bool = False) -> Any:
        """What is indented more; a list may stand as far to the left as its key."""
        line = self._peek()
        if line is not None and (line[0] > indent or (lists and line[0] == indent and line[1][:1] == "-")):
            return self._block(line[0], depth + 1)
        return None

    def _text(self, indent: int, mark: str) -> str:
        lines = []
        while self._at < len(self._all):
            line = self._all[self._at]
            if line.strip() and len(line) - len(line.lstrip()) <= indent:
                break
            lines.append(line)
            self._at += 1
        deep = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        text = ("\n" if mark[0] == "|" else " ").join(line[deep:].rstrip() for line in lines).rstrip()
        return text if "-" in mark else text + "\n"

    def _scalar(self, text: str, *, word: bool = True) -> Any:
        if text[:1] in ("&", "*", "!"):
            raise self._wrong("anchors and tags of YAML are not read here")
        if text[:1] in ("[", "{"):
            if not word:
                raise self._wrong("a key is a text")
            return self._brackets(text)
        if text[:1] == "'" and text[-1:] == "'" and len(text) > 1:
            return text[1:-1].replace("''", "'")
        if text[:1] == '"' and text[-1:] == '"' and len(text) > 1:
            return self._unescaped(text[1:-1])
        return WORDS.get(text.lower(), text) if word else text

    def _brackets(self, text: str) -> Any:
        """A value in brackets, which ends on this line or a later one."""
        from kcli.cli.documents.yaml_flow import Flow

        def wrong(at: int, why: str) -> UsageError:
            self._at = at
            return self._wrong(why)

        column = len(uncommented(self._all[self._at]).rstrip()) - len(text)
        flow = Flow(self._all, self._at, column, scalar=self._scalar, wrong=wrong, new=Map)
        value = flow.whole()
        self._at = flow.at
        return value

    def _unescaped(self, text: str) -> str:
        try:
            return unescaped(text)
        except ValueError as why:
            raise self._wrong(str(why)) from None
