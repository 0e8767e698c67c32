"""Profiles: named clusters in the user's `config.toml` and a project's `.kcli.toml`. kcli reads them and never writes
them.

    default_profile = "dev"

    [profiles.prod]
    bootstrap = "kafka-1:9092,kafka-2:9092"
    read_only = true            # refuses changes of the cluster; protected = true: refuses deletions and alterations
    client.id = "me"            # any property that -X accepts
    sasl.password = { env = "KAFKA_PASSWORD" }      # or file, keyring, command: see secrets/sources.py
    broker_map = { "kafka-1:9092" = "localhost:19092" }

A project's profile replaces the user's profile of the same name as a whole, so that a foreign project file is never
combined with the user's secrets. The project file is searched from the working directory up to the git root; without a
git root only in the working directory. It is ignored if another user could have written it (`files.distrust` in
kcli/system), and commands are never run from such a file. Only if the user's file lists its folder in trusted_projects
may a project's file take anything from elsewhere (secrets, commands), turn protections off, and get secrets of the
environment and of -F. Otherwise any cloned repository could have a secret sent to a broker of its choice.
"""

from __future__ import annotations

import os

from kcli.errors import UsageError
from kcli.paths import config_folder
from kcli.system.files import SETTINGS, distrust, distrusted, opened, whole
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypedDict

    class ProfilesFile(TypedDict, total=False):
        """A file with profiles."""

        default_profile: str
        profiles: dict[str, dict[str, object]]
        trusted_projects: list[str]

    from collections.abc import Mapping
    from typing import Any

    from kcli.config.secrets.sources import Source


# A profile: a checked table of a TOML file.


FLAGS = ("read_only", "protected")
SERVERS = ("bootstrap", "bootstrap_servers", "bootstrap.servers", "metadata.broker.list")
MAP = "broker_map"
REGISTRY = "registry"
"""The short name of schema.registry.url in a profile; a relative folder (`file:schemas`) is resolved from the file."""
TAKING = tuple(
    "sasl.oauthbearer.token.file sasl.oauthbearer.token.command sasl.kerberos.keytab bearer.auth.token.file "
    "bearer.auth.token.command sasl.oauthbearer.assertion.file sasl.oauthbearer.assertion.template.file "
    "sasl.oauthbearer.assertion.jwt.template.file".split()
)
KEYS = ("ssl.key.location", "ssl.keystore.location", "sasl.oauthbearer.assertion.private.key.file")
"""Files of private keys, which a project may have itself."""
FILES = frozenset((*TAKING, *KEYS))
"""Properties whose last word is not a source's kind in TOML: `token.file = "x"`."""
MECHANISM = ("sasl.mechanism", "sasl.mechanisms")
AMBIENT = ("GSSAPI", "AWS_MSK_IAM")
"""Mechanisms whose secrets are the user's tickets and credentials, without a property."""
AMBIENT_MODULES = ("Krb5LoginModule", "IAMLoginModule")
SWITCHES = {
    "allow.insecure.auth": ("true",),
    "enable.ssl.certificate.verification": ("false",),
    "ssl.endpoint.identification.algorithm": ("", "none"),
}
"""Properties that turn a protection off, and the values that do."""


class Profile(Frozen):
    """A profile. `where` names it in errors, `properties` are in the form of -X, `guard` is "", read_only or protected,
    `broker_map` is FROM=TO, `warnings` are about its file.

    `taken` is the first key that takes something from elsewhere, `unprotecting` the first that turns a protection off,
    `command` the first that runs a command. `trusted` is False for a project's profile that the user's file does not
    trust: it gets no secrets. `project` is the project's file that defines or selects the profile, "" for none.
    """

    name: str = ""
    where: str = ""
    bootstrap: str | None = None
    properties: tuple[tuple[str, str | Source], ...] = ()
    guard: str = ""
    broker_map: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    taken: str = ""
    unprotecting: str = ""
    command: str = ""
    trusted: bool = True
    path: str = ""
    project: str = ""

    @property
    def choice(self) -> str:
        """A text that the project's file selects the cluster."""
        from kcli.secret import without_logins

        servers = without_logins(self.bootstrap or "")
        return f"{self.project} chooses the cluster: profile {self.name}, {servers}"


def profile_of(name: str, table: Mapping[str, object], path: str) -> Profile:
    """Convert a table of a file to a profile. Raises UsageError."""
    where = f"{path}: profile {name}"
    guard, servers = "", None
    table = dict(table)
    mapped = _mapped(table.pop(MAP, {}), where)
    properties: list[tuple[str, str | Source]] = []
    for key, value in flat("", table, where, os.path.dirname(path)):
        if key in FLAGS:
            if not isinstance(value, bool):
                raise UsageError(f"{where}: {key} must be true or false")
            if value and guard != "read_only":  # the stricter one, if both are set
                guard = key
        elif key in SERVERS:
            servers = _text(value)
        elif key == REGISTRY:
            url = value if _is_source(value) else _registry(_text(value), os.path.dirname(path))
            properties.append(("schema.registry.url", url))
        else:
            properties.append((key, value if _is_source(value) else _text(value)))
    taken = [key for key, value in properties if _takes(key, value, os.path.dirname(os.path.realpath(path)))]
    switches = [key for key, value in properties if str(value).strip().lower() in SWITCHES.get(_bare(key), ())]
    return Profile(
        name=name,
        where=where,
        bootstrap=servers,
        properties=tuple(properties),
        guard=guard,
        broker_map=mapped,
        warnings=_open_secrets(properties, path),
        taken=taken[0] if taken else "",
        unprotecting=switches[0] if switches else "",
        command=next((key for key, value in properties if runs_command(key, value)), ""),
        path=path,
    )


def _bare(key: str) -> str:
    """Return the name of a property without the registry's prefix."""
    return key.removeprefix("schema.registry.")


def _registry(url: str, folder: str) -> str:
    """Return the registry's address; a folder of schemas with its absolute path."""
    if not url.startswith("file:") or url.startswith("file:///"):
        return url
    return f"file:{os.path.join(folder, os.path.expanduser(url.removeprefix('file:')))}"


def _takes(key: str, value: str | Source, folder: str) -> bool:
    """Whether a property takes something that is not in its file or beside it."""
    key = _bare(key)
    if not isinstance(value, str) or key in TAKING or "${" in value:
        return True
    if key in KEYS:
        path = os.path.expanduser(value)
        places = (os.path.realpath(os.path.join(folder, path)), os.path.realpath(path))
        return not all(place.startswith(os.path.join(folder, "")) for place in places)
    if key in MECHANISM:
        return value.strip().upper() in AMBIENT
    if key == "sasl.jaas.config":
        return any(module in value for module in AMBIENT_MODULES)
    return key == "sasl.oauthbearer.token.endpoint.url" and value.startswith("file:")


def runs_command(key: str, value: str | Source) -> bool:
    """Whether a property's value is the output of a command."""
    named = value.startswith("${command:") if isinstance(value, str) else value.kind == "command"
    return named or key.endswith("token.command")


def refused_command(where: str, key: str, path: str, reason: str) -> UsageError:
    """`reason` is why the file is not trusted."""
    return UsageError(f"{where}: {key} runs a command, which is refused because {path} {reason}")


def gives_secret(key: str, value: str) -> bool:
    """Whether a property is a secret, or names the place of one."""
    from kcli.secret import secretive

    key = _bare(key)
    if key in MECHANISM:
        return value.strip().upper() in AMBIENT
    if secretive(key) or key in TAKING or key in KEYS or key.startswith("sasl.aws."):
        return True
    return value.startswith("file:") and key != "url"


def _mapped(table: Any, where: str) -> tuple[str, ...]:
    pairs = table.items() if isinstance(table, dict) else ()
    if not isinstance(table, dict) or not all(isinstance(to, str) for _, to in pairs):
        raise UsageError(f'{where}: {MAP} must be a table: {MAP} = {{ "host:port" = "host:port" }}')
    return tuple(f"{pair}={to}" for pair, to in pairs)


def _is_source(value: Any) -> bool:
    return not isinstance(value, str | bool | int | float | list)


def _open_secrets(properties: list[tuple[str, str | Source]], path: str) -> tuple[str, ...]:
    """Return a warning if others can read a file with secrets."""
    from kcli.secret import secretive
    from kcli.system.files import OTHERS_READ, has_modes

    plain = [key for key, value in properties if isinstance(value, str) and secretive(key) and value[:2] != "${"]
    if not plain or not has_modes() or not os.path.exists(path) or not os.stat(path).st_mode & OTHERS_READ:
        return ()
    return (f"{path} contains {plain[0]} and can be read by other users: chmod 600 it",)


def flat(prefix: str, table: dict[str, Any], where: str, folder: str) -> Iterable[tuple[str, Any]]:
    """Flatten `client.id = …`, a nested table in TOML, to one key; `{ env = "X" }` is a source."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            from kcli.config.secrets.sources import from_table, is_source

            if is_source(value) and not any(_bare(f"{name}.{kind}") in FILES for kind in value):
                yield name, from_table(value, f"{where}: {name}", folder)
            else:
                yield from flat(f"{name}.", value, where, folder)
        elif isinstance(value, str | int | float | list):
            yield name, value
        else:
            raise UsageError(f"{where}: {name} must be a string, a number, true, false or a list")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(_text, value)) if isinstance(value, list) else str(value)


PROJECT = ".kcli.toml"
TOP = ("default_profile", "profiles", "trusted_projects")


def user_file() -> str:
    """Return KCLI_CONFIG, else config.toml in the config folder (kcli/paths.py)."""
    return os.environ.get("KCLI_CONFIG") or os.path.join(config_folder(), "config.toml")


def project_file() -> str | None:
    """Return the project's file, if there is a trusted one."""
    path = _found()
    return path if path and not distrust_of(path) else None


def distrust_of(path: str) -> str:
    """Return why a file is not trusted, as a predicate; "" if it is trusted or does not exist."""
    return distrust(os.lstat(path), os.stat(path)) if os.path.exists(path) else ""


def _found() -> str | None:
    try:
        start = here = os.getcwd()
    except OSError:
        return None  # the directory was deleted
    first = os.path.join(start, PROJECT)
    found = first if os.path.isfile(first) else None
    while True:
        candidate = os.path.join(here, PROJECT)
        if found is None and os.path.isfile(candidate):
            found = candidate
        if os.path.exists(os.path.join(here, ".git")):
            return found
        above = os.path.dirname(here)
        if above == here:
            return first if os.path.isfile(first) else None
        here = above


def chosen(name: str | None) -> Profile | None:
    """Return the profile with that name, else that of KCLI_PROFILE, else the files' default_profile; None if there is
    none. Raises UsageError for an unknown one, with the most similar name, and for an invalid file."""
    name = name or os.environ.get("KCLI_PROFILE") or None
    paths = [path for path in (project_file(), user_file()) if path and os.path.isfile(path)]
    named = os.environ.get("KCLI_CONFIG")
    if named and named not in paths:
        raise UsageError(f"KCLI_CONFIG: file not found: {named}")
    if name is None and not any(b"default_profile" in _bytes(path) for path in paths):
        return None  # not worth importing a parser
    documents = [(path, document(path)) for path in paths]
    about, by = "", ""
    if name is None:
        defaults = [(path, str(read["default_profile"])) for path, read in documents if "default_profile" in read]
        if not defaults:
            return None
        (by, name), *_ = defaults
        about = f"{by}: default_profile: "
    profile = _find(name, documents, about)
    project = {by, profile.path} - {"", user_file()}
    return profile.replace(project=project.pop()) if project else profile


def profile_names() -> list[str]:
    """Return the names of all profiles, the project's first. Raises UsageError for a file that cannot be read."""
    paths = [path for path in (project_file(), user_file()) if path and os.path.isfile(path)]
    return list(dict.fromkeys(name for path in paths for name in document(path).get("profiles", {})))


def _find(name: str, documents: list[tuple[str, ProfilesFile]], about: str) -> Profile:
    for path, read in documents:
        found = read.get("profiles", {}).get(name)
        if found is not None:
            return check_trust(profile_of(name, found, path))
    names = [name for _, read in documents for name in read.get("profiles", {})]
    hint = _nearest(name, names) or (f"; known: {', '.join(dict.fromkeys(names))}" if names else "")
    where = "" if names else f": no profile is defined in {user_file()} or {PROJECT}"
    raise UsageError(f"{about}unknown profile {name}{hint}{where}{'; ' if (ignored := not_read()) else ''}{ignored}")


def not_read(*, above: bool = True) -> str:
    """Return why a project's file is ignored; "" if it is not. `above`: whether files above the working directory
    count."""
    if path := _found():
        reason = distrust_of(path)
        return f"{path} {reason}, so it is ignored" if reason else ""
    if not above:
        return ""
    here = os.getcwd()
    while (parent := os.path.dirname(here)) != here:
        here = parent
        if os.path.isfile(os.path.join(here, PROJECT)):
            ignored = os.path.join(here, PROJECT)
            return f"{ignored} is only read in its own folder, because it is not in a git repository"
    return ""


def _bytes(path: str) -> bytes:
    try:
        with opened(path) as file:
            if path != user_file() and (reason := distrusted(path, file)):
                raise UsageError(f"{path} {reason}, so it is not used")
            return whole(file, SETTINGS)
    except OSError as problem:
        raise UsageError(f"{path}: {problem.strerror}") from None


def document(path: str) -> ProfilesFile:
    """Return a file's content, checked as far as every profile needs it."""
    import tomllib

    try:
        read = tomllib.loads(_bytes(path).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is not UTF-8 text") from None
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise UsageError(f"{path}: is not TOML: {problem}") from None
    for key, value in read.items():
        if key not in TOP:
            raise UsageError(f"{path}: unknown key {key}{_nearest(key, TOP)}")
        if key == "default_profile" and not isinstance(value, str):
            raise UsageError(f"{path}: default_profile must be a string")
        if key == "profiles" and not (isinstance(value, dict) and all(isinstance(v, dict) for v in value.values())):
            raise UsageError(f"{path}: profiles must be tables: [profiles.NAME]")
        if key == "trusted_projects" and not (isinstance(value, list) and all(isinstance(v, str) for v in value)):
            raise UsageError(f"{path}: trusted_projects must be a list of folders")
    return read  # type: ignore[return-value]  # checked above


def check_trust(profile: Profile) -> Profile:
    """Return the profile with `trusted` set. Raises UsageError for a project's profile that is not trusted and takes
    something from elsewhere or turns a protection off, and for a command in a file that others could have written."""
    if profile.command and (reason := distrust_of(profile.path)):
        raise refused_command(profile.where, profile.command, profile.path, reason)
    own = user_file()
    if os.path.realpath(profile.path) == os.path.realpath(own):
        return profile
    folder = os.path.dirname(os.path.realpath(profile.path))
    trusted = document(own).get("trusted_projects", []) if os.path.isfile(own) and not distrust_of(own) else []
    if folder in [os.path.realpath(os.path.expanduser(one)) for one in trusted]:
        return profile
    if profile.taken:
        raise UsageError(
            f"{profile.where}: {profile.taken} is read from elsewhere, which a project's file may do "
            f"{trusting(profile)}"
        )
    if profile.unprotecting:
        raise UsageError(
            f"{profile.where}: {profile.unprotecting} turns a protection off, which a project's file may do "
            f"{trusting(profile)}"
        )
    return profile.replace(trusted=False)


def trusting(profile: Profile) -> str:
    """Return how to make a project's profile trusted: the end of a sentence."""
    folder = os.path.dirname(os.path.realpath(profile.path))
    reason = distrust_of(user_file())
    return f'when {user_file()}{f", which {reason}," if reason else ""} has: trusted_projects = ["{folder}"]'


def _nearest(name: str, names: Iterable[str]) -> str:
    from kcli.text.suggest import did_you_mean

    return did_you_mean(name, list(dict.fromkeys(names)))
