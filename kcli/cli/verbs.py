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
        _a_word(name, verb, verbs)
        return verbs["list"], words[1:], f"{name} list"
    pair = " ".join(words[1:3])  # `cluster features upgrade`
    if pair in verbs and pair != verb:
        return verbs[pair], words[3:], f"{name} {pair}"
    command = verbs.get(ALIASES.get(verb, verb))
    if command is None:
        from kcli.cli.elsewhere import verb as other
        from kcli.nearest import did_you_mean

        near = other(name, verb, verbs) or did_you_mean(verb, verbs) or f"; there are {', '.join(verbs)}"
        raise UsageError(f"{name}: there is no command {verb!r}{near}")
    return command, words[2:], f"{name} {command.name}"


def _a_word(name: str, verb: str, verbs: dict[str, Command]) -> None:
    """`kcli topics --describe`, as Kafka's own scripts have it. Raises UsageError with the word that it is here."""
    word = verb.removeprefix("--")
    if word == verb or any(verb in option.flags for option in verbs["list"].options):
        return
    from kcli.cli.elsewhere import verb as other

    near = f"; here it is `kcli {name} {word}`" if word in verbs else other(name, word, verbs)
    if near:
        raise UsageError(f"{name}: there is no option {verb}{near}")
