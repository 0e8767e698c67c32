"""`kcli help`, and with a topic, a command or any word behind it."""

from __future__ import annotations

from kcli.cli.parsing.help.topics import TOPICS, listed, topic
from kcli.cli.parsing.registry import ALIASES, SUBJECTS

ALL = ("--json", "--help-json")


def answer(words: list[str]) -> tuple[str, list[str]]:
    """A topic, a list or what mentions a word; else "" and the line that prints the help of a command. Raises
    UsageError for a word that nothing mentions."""
    if not words:
        return listed(), []
    text = topic(words[0])
    if text is not None:
        note = f"`kcli {words[0]} --help` shows the command.\n\n" if words[0] in SUBJECTS else ""
        return note + text, []
    if words[0] in ALL:
        from kcli.cli.parsing.help.as_json import all_commands

        return all_commands(), []
    if words == ["commands"]:
        from kcli.cli.parsing.help.search import listed_commands

        return listed_commands(), []
    if words[0] in SUBJECTS or words[0] in ALIASES:
        return "", [*words, "--help"]
    return _searched(words), []


def _searched(words: list[str]) -> str:
    """What mentions a word that is no command and no topic. Raises UsageError where nothing does."""
    from kcli.cli.parsing.help.search import found
    from kcli.errors import UsageError
    from kcli.text.suggest import did_you_mean

    if words[0][:1] == "-":  # an option may have a secret
        raise UsageError("help takes a command, a topic or a word and no options: kcli help WORD; see `kcli --help`")
    text = found(" ".join(words))
    if text:
        return text
    near = did_you_mean(words[0], [*SUBJECTS, *TOPICS])
    raise UsageError(f"no help for {words[0]!r}{near or '; `kcli help` lists topics, `kcli help commands` commands'}")
