"""`kcli config import`: other tools' clusters as profiles, shown as TOML, written only where one asks for it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from kcli.cli.commands.config.foreign import PLACES, guess, place, read
from kcli.cli.commands.config.readers import Found
from kcli.cli.commands.config.toml import secrets_of, text_of, write
from kcli.cli.main import complain
from kcli.config.profiles.files import user_file
from kcli.config.properties.merged import Properties
from kcli.errors import UsageError
from kcli.text.escape import put

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values


def run(values: Values) -> int:
    """`kcli config import FROM [FILE]`."""
    kind, path = _source(values["words"])
    name = values["name"] or (os.path.splitext(os.path.basename(path))[0] if kind == "properties" else kind)
    found = read(kind, path, name)
    wanted = values["only"]
    if wanted:
        _known(wanted, found, path)
        found = [one for one in found if one.name in wanted]
    if values["name"]:
        if len(found) > 1:
            raise UsageError(f"--name {name}: {path} has {len(found)} clusters; name one of them with --only")
        found[0].name = name
    for one in found:
        _anchor(one, path)
        _remark(one, kind, quiet=values["quiet"])
    if values["write"]:
        target = values["to"] or user_file()
        replaced = write(target, found, force=values["force"])
        if not values["quiet"]:
            names = ", ".join(one.name for one in found)
            complain(f"{names} written to {target}{f'; what was there before is in {target}~' if replaced else ''}")
        return 0
    put("\n".join(text_of(one, reveal=values["reveal"]) for one in found))
    sys.stdout.flush()
    hidden = sum(len(secrets_of(one)) for one in found)
    if hidden and not values["reveal"] and not values["quiet"]:
        complain(
            f"{hidden} secret{'s are' if hidden > 1 else ' is'} hidden: --reveal shows, --write keeps what stands there"
        )
    return 0


def _source(words: list[str]) -> tuple[str, str]:
    """(tool, file)."""
    kinds = ", ".join(PLACES)
    if not words or len(words) > 2:
        raise UsageError(f"name whose configuration it is, and its file if it is elsewhere: {kinds}")
    if len(words) == 1 and words[0] not in PLACES and os.path.isfile(words[0]):
        return guess(words[0]), words[0]
    kind = words[0]
    if kind not in PLACES:
        from kcli.text.suggest import did_you_mean

        raise UsageError(f"nothing is imported from {kind}{did_you_mean(kind, PLACES) or f'; there are {kinds}'}")
    return kind, words[1] if len(words) == 2 else place(kind)


def _known(wanted: list[str], found: list[Found], path: str) -> None:
    names = [one.name for one in found]
    for name in wanted:
        if name not in names:
            from kcli.text.suggest import did_you_mean

            raise UsageError(f"--only {name}: {path} has {', '.join(names)}{did_you_mean(name, names)}")


def _anchor(one: Found, path: str) -> None:
    """Files that are named from the folder of `path`, or from here, are named whole: a profile is used anywhere."""
    for key, text in _named_files(one):
        for folder in (os.path.dirname(os.path.abspath(path)), os.getcwd()):
            if os.path.exists(os.path.join(folder, text)):
                one.properties[key] = os.path.join(folder, os.path.normpath(text))
                break


def _named_files(one: Found) -> list[tuple[str, str]]:
    """(property, file) of those whose name is not whole."""
    from kcli.config.properties import names
    from kcli.config.secrets.fields import FILES

    fields = {**names.TLS, **names.OAUTH, **names.KERBEROS}
    named = [(key, text) for key, text in one.properties.items() if fields.get(key) in FILES]
    return [(key, text) for key, text in named if not os.path.isabs(text) and text[:1] not in ("~", "$")]


def _remark(one: Found, kind: str, *, quiet: bool) -> None:
    """What could not be taken over, and what would not work as it is."""
    remarks = [f"{one.name}: left out: {', '.join(one.left_out)}"] if one.left_out else []
    if not one.bootstrap:
        remarks.append(f"{one.name}: no servers are named: add bootstrap, or say -b beside --profile {one.name}")
    try:
        made = Properties(looking=False)
        for key, text in one.properties.items():
            made.put(key, text, one.name)
        made.security()
    except UsageError as problem:
        remarks.append(str(problem))
    remarks += [f"{one.name}: {key}: {text} is looked for where kcli is started" for key, text in _named_files(one)]
    if one.current:
        remarks.append(f'it is what {kind} uses now: --profile {one.name}, or default_profile = "{one.name}"')
    for remark in [] if quiet else remarks:
        complain(remark)
