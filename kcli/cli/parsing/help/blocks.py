"""The help of a command in parts, for pages that are no terminal's: paragraphs, code, panels, exit codes."""

from __future__ import annotations

import re

from kcli.cli.parsing.help.text import arguments, by_panel, explained
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.cli.parsing.command import Command
    from kcli.cli.parsing.option import Option

SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
EXIT = re.compile(r"\b[Ee]xit (?:codes? ?:? ?)?\d")
CLUSTER = "bootstrap"
"""The option that commands have which connect to a cluster."""


class Block(Frozen):
    """A paragraph, or lines of code with what introduces them (`Examples:`)."""

    text: str = ""
    code: tuple[str, ...] = ()


def blocks(text: str) -> list[Block]:
    """A description or details in blocks. What a terminal breaks nowhere and begins with a title is code."""
    return [_block(part) for part in text.split("\n\n") if part.strip()]


def usage(path: str, command: Command) -> str:
    """The usage of a command in one line."""
    return f"kcli {path} [OPTIONS] {arguments(command)}".rstrip()


def description(command: Command) -> tuple[list[Block], list[Block]]:
    """What a command is about with its details, and its examples."""
    every = blocks(command.description)
    examples = [block for block in every if block.code and block.text.startswith("Example")]
    return [block for block in every if block not in examples] + blocks(command.details), examples


def panels(command: Command) -> dict[str, list[Option]]:
    """The options by the titles of their panels, the command's own first and the connection last. Those of a command
    that reads its words by itself are declared for completion only: none."""
    return {} if command.own_words else {title: every for title, every in by_panel(command.options).items() if every}


def codes(command: Command) -> tuple[list[int], list[tuple[str, str]]]:
    """The exit codes that the command shares with others; and the sentences about codes, each with its option."""
    connects = any(option.name == CLUSTER for option in command.options) and not command.own_words
    own = [("", sentence) for block in description(command)[0] for sentence in _sentences(block.text)]
    options = [option for every in panels(command).values() for option in every]
    told = [(option.flags[-1], sentence) for option in options for sentence in _sentences(explained(option))]
    return [0, 1, 2, *([5] if connects else [])], [*own, *told]


def _sentences(text: str) -> Iterator[str]:
    return (sentence for sentence in SENTENCE.split(text) if EXIT.search(sentence))


def _block(part: str) -> Block:
    lines = part.removeprefix("\b\n").split("\n")
    if part.startswith("\b\n") and lines[0].endswith(":"):
        return Block(text=lines[0], code=tuple(line.removeprefix("  ") for line in lines[1:]))
    return Block(text=" ".join(part.replace("\b", "").split()))
