"""`kcli help`, `kcli help TOPIC` and `kcli help COMMAND`; and the help of a group of commands."""

from __future__ import annotations

from kcli.cli.parsing.help.page import columns, group_page
from kcli.cli.parsing.help.topics import TOPICS, listed, topic
from kcli.cli.parsing.registry import ALIASES, SUBJECTS, declared

ALL = ("--json", "--help-json")


def answer(words: list[str]) -> tuple[str, list[str]]:
    """A topic or the list of topics; else "" and the line that prints the help of a command. Raises UsageError for an
    unknown name."""
    if not words:
        return listed(), []
    text = topic(words[0])
    if text is not None:
        note = f"`kcli {words[0]} --help` shows the command.\n\n" if words[0] in SUBJECTS else ""
        return note + text, []
    if words[0] in ALL:
        from kcli.cli.parsing.help.as_json import all_commands

        return all_commands(), []
    _known(words)
    return "", [*words, "--help"]


def group(words: list[str]) -> str:
    """The help of the group that a line names, as a page or as JSON."""
    name = ALIASES.get(words[0], words[0])
    verbs = declared(name)
    assert isinstance(verbs, dict)
    if "--help-json" in words:
        from kcli.cli.parsing.help.as_json import group_document

        return group_document(name, verbs)
    return group_page(name, SUBJECTS[name][1], verbs, columns())


def _known(words: list[str]) -> None:
    from kcli.errors import UsageError

    if words[0] not in SUBJECTS and words[0] not in ALIASES:
        from kcli.cli.parsing import other_tools
        from kcli.text.suggest import did_you_mean

        if words[0][:1] == "-":  # an option may have a secret
            raise UsageError("help takes a command or a topic and no options: kcli help COMMAND; see `kcli --help`")
        near = other_tools.command(words) or did_you_mean(words[0], [*SUBJECTS, *TOPICS])
        raise UsageError(f"no help for {words[0]!r}{near or '; `kcli help` lists topics, `kcli --help` commands'}")
