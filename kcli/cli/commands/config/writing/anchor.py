"""Files that a profile names: a profile is used in any folder."""

from __future__ import annotations

import os

from kcli.cli.commands.config.writing.toml import NewProfile


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
