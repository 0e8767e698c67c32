"""`sasl.jaas.config`: read, never executed. One login module, a flag, and options.

org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="secret";
"""

from __future__ import annotations

from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FLAGS = ("required", "requisite", "sufficient", "optional")
SPECIAL = "=;"
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def parse(text: str, where: str) -> tuple[str, dict[str, str]]:
    """The simple name of the module's class, and its options. Raises UsageError, which never has a value in it."""
    words = list(_words(text, where))
    if len(words) < 2 or words[0][1] or words[0][0] in SPECIAL:
        raise UsageError(f'{where}: expected LoginModule required name="value" …;')
    if words[1][0].lower() not in FLAGS:
        raise UsageError(f"{where}: after the login module comes one of {', '.join(FLAGS)}")
    options: dict[str, str] = {}
    at = 2
    while at < len(words) and words[at] != (";", False):
        name, quoted = words[at]
        if quoted or name in SPECIAL or at + 2 >= len(words) or words[at + 1] != ("=", False):
            raise UsageError(f'{where}: expected name="value" behind {_shown(words, at)}')
        if words[at + 2] in (("=", False), (";", False)):
            raise UsageError(f"{where}: {name} has no value")
        options[name] = words[at + 2][0]
        at += 3
    if at >= len(words):
        raise UsageError(f"{where}: it has to end with a semicolon")
    if at + 1 < len(words):
        raise UsageError(f"{where}: there may be one login module, and nothing behind its semicolon")
    return words[0][0].rpartition(".")[2], options


def _shown(words: list[tuple[str, bool]], at: int) -> str:
    """The text in front of a mistake: an option's name, never its value."""
    return words[at - 3][0] if at >= 5 else words[1][0]


def _words(text: str, where: str) -> Iterator[tuple[str, bool]]:
    """(word, whether it was quoted)."""
    at, end = 0, len(text)
    while at < end:
        char = text[at]
        if char.isspace():
            at += 1
        elif char in SPECIAL:
            yield char, False
            at += 1
        elif char in "\"'":
            word, at = _quoted(text, at, where)
            yield word, True
        else:
            begin = at
            while at < end and not text[at].isspace() and text[at] not in SPECIAL:
                at += 1
            yield text[begin:at], False


def _quoted(text: str, at: int, where: str) -> tuple[str, int]:
    quote = text[at]
    out: list[str] = []
    at += 1
    while at < len(text):
        char = text[at]
        at += 1
        if char == quote:
            return "".join(out), at
        if char == "\\" and at < len(text):
            out.append(ESCAPES.get(text[at], text[at]))
            at += 1
        else:
            out.append(char)
    raise UsageError(f"{where}: a quotation mark is not closed")
