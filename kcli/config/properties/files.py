"""Property files: in Java's format, with its escapes, if the name ends in .properties; otherwise in librdkafka's,
without escapes. Both support comments, `=` or `:`, and continued lines."""

from __future__ import annotations

import os

from kcli.config.profiles import refused_command, runs_command
from kcli.errors import OPTION, UsageError
from kcli.system.files import SETTINGS, distrusted, opened, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def lines_of(path: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line number, key, value) of each property of a file. Raises UsageError, including for a command in a file
    that others could have written."""
    java = path.endswith(".properties")
    held, first = "", 0
    data, distrust = _read(path)
    for number, line in enumerate(_text(data, path, java).splitlines(), 1):
        text = line.lstrip()
        if not held and (not text or text[0] in "#!"):
            continue
        first = first if held else number
        backslashes = len(text) - len(text.rstrip("\\"))
        if backslashes % 2:
            held += text[:-1]
            continue
        text, held = held + text, ""
        cut = _separator(text, java)
        if cut <= 0:
            raise UsageError(f"{path}:{first}: expected KEY=VALUE")
        key, value = text[:cut].rstrip(), text[cut:].lstrip()
        value = value[1:].lstrip() if value[:1] in ("=", ":") else value
        where = f"{path}:{first}"
        key, value = (unescape(key, where), unescape(value, where)) if java else (key, value.rstrip())
        if distrust and runs_command(key, value):
            raise refused_command(where, key, path, distrust)
        yield first, key, value


def _read(path: str) -> tuple[bytes, str]:
    """Return the content of a property file, and why it is not trusted: "" if it is. Raises UsageError."""
    try:
        with opened(path) as file:
            return whole(file, SETTINGS), distrusted(path, file)
    except OSError as problem:
        raise UsageError(f"command_config {path}: {problem.strerror}").hinted(OPTION) from None


def _text(data: bytes, path: str, java: bool) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        if java:
            return data.decode("latin-1")  # the format's original encoding
        raise UsageError(f"command_config {path}: is not UTF-8 text").hinted(OPTION) from None


def _separator(text: str, java: bool) -> int:
    """Return where the key ends; -1 if nothing follows it. In Java a space is a separator, too."""
    escaped = False
    for at, char in enumerate(text):
        if java and not escaped and char == "\\":
            escaped = True
            continue
        if not escaped and (char in "=:" or (java and char in " \t\f")):
            return at
        escaped = False
    return -1


def unescape(text: str, where: str) -> str:
    r"""Return a text with Java's escapes resolved: control characters, \uXXXX, and any other character unchanged."""
    if "\\" not in text:
        return text.rstrip()
    out, at = [], 0
    text = text.rstrip() if not text.rstrip().endswith("\\") else text
    while at < len(text):
        char = text[at]
        at += 1
        if char != "\\" or at >= len(text):
            out.append(char)
            continue
        char = text[at]
        at += 1
        if char != "u":
            out.append(ESCAPES.get(char, char))
            continue
        digits = text[at : at + 4]
        if len(digits) < 4 or not all(digit in "0123456789abcdefABCDEF" for digit in digits):
            raise UsageError(f"{where}: \\u needs four hexadecimal digits")
        out.append(chr(int(digits, 16)))
        at += 4
    whole = "".join(out)
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # surrogate pairs become one character


# `KCLI_*` environment variables. KCLI_SASL_PASSWORD is sasl.password; a few names are kcli's own.
#
# A variable that is nearly a property is refused, like a mistyped property. Anything less similar belongs to another
# program: Kubernetes sets KCLI_PORT for a service called kcli.


PREFIX = "KCLI_"
OWN = """
BOOTSTRAP BOOTSTRAP_SERVERS PROFILE CONFIG BROKER_MAP PURE_PYTHON TEST_CACHE BENCH_BOOTSTRAP SEED SCHEDULES QUICK BARE
""".split()


def properties() -> list[tuple[str, str, str]]:
    """Return (variable, property, text) of each that is a property. Raises UsageError for a mistyped one."""
    names = [name for name in os.environ if name.startswith(PREFIX) and name[len(PREFIX) :] not in OWN]
    if not names:
        return []
    from kcli.config.properties.known import KNOWN
    from kcli.config.properties.names import SECURITY, elsewhere, refusal_of

    found = []
    for name in sorted(names):
        key = name[len(PREFIX) :].lower().replace("_", ".")
        if key in KNOWN or key in SECURITY or elsewhere(key) or refusal_of(key):
            found.append((name, key, os.environ[name]))
            continue
        from kcli.text.suggest import did_you_mean

        ours = [PREFIX + name.upper().replace(".", "_") for name in (*KNOWN, *SECURITY)] + [
            PREFIX + name for name in OWN
        ]
        near = did_you_mean(name, ours, 0.85)
        if near or key.startswith(("sasl.", "ssl.", "security.")):
            raise UsageError(f"{name}: unknown variable{near}")
    return found
