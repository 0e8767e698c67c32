"""Changes of a file of profiles: comments, order and every other line stay; all of a change is written, or nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kcli.cli.commands.config.writing.toml import NewProfile, quoted, text_of
from kcli.cli.documents.input_file import read_text
from kcli.cli.documents.toml_reader import header
from kcli.errors import UsageError
from kcli.system.files import SETTINGS
from kcli.values import Value, field

if TYPE_CHECKING:
    from kcli.config.profiles import ProfilesFile

DEFAULT = "default_profile"
COMMENT = re.compile(r"""["'](\s*#.*)$""")
"""Of a line with a text: what stands behind it."""


class Section(Value):
    """The lines of a table: the comments right above its header, the header, and what follows."""

    path: list[str] = field(factory=list)
    above: list[str] = field(factory=list)
    lines: list[str] = field(factory=list)


def write(path: str, profiles: Sequence[NewProfile], *, force: bool, default: str = "") -> list[str]:
    """Put profiles into the file, created with mode 600; a profile that is replaced keeps its place,
    and the file before is kept beside it. `default` becomes the default_profile. Returns the names of those replaced.
    Raises UsageError with nothing written."""
    path = os.path.realpath(path)
    before, old = _read(path)
    there = [profile.name for profile in profiles if profile.name in old.get("profiles", {})]
    if there and not force:
        raise UsageError(f"{path} already has a profile {there[0]}: --force replaces it, another name keeps both")
    texts = {profile.name: text_of(profile, reveal=True) for profile in profiles}
    after = _changed(before, {name: texts[name] for name in there})
    for name in [name for name in texts if name not in there]:
        after += ("\n" if after and not after.endswith("\n\n") else "") + texts[name]
    wanted: ProfilesFile = {**old, "profiles": {**old.get("profiles", {}), **tables(texts)}}
    if default:
        after, wanted["default_profile"] = _with_default(after, default), default
    _save(path, before if there else None, after, wanted)
    return there


def remove(path: str, names: Sequence[str]) -> bool:
    """Take profiles out of the file, and its default_profile if it is one of them; the file before is kept beside it.
    Returns whether the default went too. Raises UsageError with nothing written."""
    path = os.path.realpath(path)
    before, old = _read(path)
    wanted: ProfilesFile = {**old, "profiles": {n: v for n, v in old["profiles"].items() if n not in names}}
    default = wanted.get("default_profile") in names
    if default:
        del wanted["default_profile"]
    after = _changed(_with_default(before, "") if default else before, dict.fromkeys(names, ""))
    _save(path, before, after, wanted)
    return default


def make_default(path: str, name: str) -> None:
    """Make a profile the file's default_profile; the file before is kept beside it. Raises UsageError with nothing
    written."""
    path = os.path.realpath(path)
    before, old = _read(path)
    wanted: ProfilesFile = {**old, "default_profile": name}
    _save(path, before or None, _with_default(before, name), wanted)


def _read(path: str) -> tuple[str, ProfilesFile]:
    """The text of a file and its parsed content; both empty where the file does not exist."""
    from kcli.config.profiles import document

    if not os.path.exists(path):
        return "", {}
    old = document(path)
    return read_text(path, SETTINGS), old


def tables(texts: dict[str, str]) -> dict[str, dict[str, object]]:
    """Return what each text of a profile says, by its name."""
    import tomllib

    return {name: tomllib.loads(text)["profiles"][name] for name, text in texts.items()}


def _changed(text: str, instead: dict[str, str]) -> str:
    """The text with these profiles replaced in place, or removed with the comment above where there is
    nothing instead."""
    out: list[str] = []
    instead = dict(instead)
    for section in _sections(text):
        name = section.path[1] if len(section.path) > 1 and section.path[0] == "profiles" else None
        if name not in instead:
            out += [*section.above, *section.lines]
        elif new := instead[name]:
            out += [*section.above, new, "\n"]
            instead[name] = ""
    return "".join(out).rstrip("\n") + "\n" if "".join(out).strip() else ""


def _sections(text: str) -> list[Section]:
    """The tables of a text; the first section is the text above all headers."""
    found = [Section()]
    for line in text.splitlines(keepends=True):
        path = header(line) if line.strip().startswith("[") else []
        if not path:
            found[-1].lines.append(line)
            continue
        last = found[-1].lines
        at = len(last)
        while at and last[at - 1].strip().startswith("#"):
            at -= 1
        top = len(found) == 1 and at == 0  # what the file itself is about
        found.append(Section(path=path, above=[] if top else last[at:], lines=[line]))
        if not top:
            del last[at:]
    return found


def _with_default(text: str, name: str) -> str:
    """The text with this default_profile; "" takes the line away."""
    sections = _sections(text)
    top = sections[0].lines
    there = [at for at, line in enumerate(top) if line.partition("=")[0].strip() == DEFAULT]
    comment = COMMENT.search(top[there[0]]) if there else None
    line = [f"{DEFAULT} = {quoted(name)}{comment[1] if comment else ''}\n"] if name else []
    if there:
        top[there[0] : there[0] + 1] = line
    else:
        top += [*line, "\n"]
    changed = "".join(line for section in sections for line in (*section.above, *section.lines))
    return changed if name else changed.lstrip("\n")


def _save(path: str, before: str | None, after: str, wanted: ProfilesFile) -> None:
    """Write the file, and `before` beside it. Raises UsageError if it would not say what is wanted."""
    import tomllib

    try:
        parsed = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        parsed = {}
    if not wanted.get("profiles"):
        wanted.pop("profiles", None)
        parsed = {key: value for key, value in parsed.items() if key != "profiles" or value}
    if parsed != wanted:
        raise UsageError(f"{path} has a form that kcli cannot change safely: change it by hand")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if before is not None:
        _replace(f"{path}~", before)
    _replace(path, after)


def _replace(path: str, text: str) -> None:
    """All or nothing, and never for others to read."""
    beside = f"{path}.{os.getpid()}"
    file = os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")
    try:
        with file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


# Files that a profile names: a profile is used in any folder.


def anchor(profile: NewProfile, folder: str) -> None:
    """Files that are named from the folder, or from here, are named whole: a profile is used anywhere."""
    for key, file in named_files(profile):
        for base in (os.path.abspath(folder), os.getcwd()):
            path = os.path.normpath(os.path.join(base, file))
            if os.path.exists(path):
                profile.properties[key] = path
                break


def named_files(profile: NewProfile) -> list[tuple[str, str]]:
    """(property, file) of those whose name is not whole."""
    from kcli import property_names as names
    from kcli.config.secrets.secured import FILES

    fields = {**names.TLS, **names.OAUTH, **names.KERBEROS}
    named = [(key, file) for key, file in profile.properties.items() if fields.get(key) in FILES]
    return [(key, file) for key, file in named if not os.path.isabs(file) and file[:1] not in ("~", "$")]
