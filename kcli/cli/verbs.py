"""Which command of a group a line names: `kcli topics create …`, `kcli config show …`."""

from __future__ import annotations

from kcli.cli.app import ALIASES
from kcli.cli.quick import HELP
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.option import Command


def choose(name: str, verbs: dict[str, Command], words: list[str]) -> tuple[Command, list[str], str] | None:
    """The command, the words after its name, and its whole name; None when the line asks for the help of the group. A
    group by itself lists, if it can. Raises UsageError for a verb that is none."""
    verb = words[1] if len(words) > 1 else ""
    if verb in HELP or (not verb and "list" not in verbs):
        return None
    if (not verb or verb.startswith("-")) and "list" in verbs:
        return verbs["list"], words[1:], f"{name} list"
    pair = " ".join(words[1:3])  # `cluster features upgrade`
    if pair in verbs and pair != verb:
        return verbs[pair], words[3:], f"{name} {pair}"
    command = verbs.get(ALIASES.get(verb, verb))
    if command is None:
        from kcli.nearest import did_you_mean

        near = did_you_mean(verb, verbs) or f"; there are {', '.join(verbs)}"
        raise UsageError(f"{name}: there is no command {verb!r}{near}")
    return command, words[2:], f"{name} {command.name}"
