"""`kcli completion SHELL`: the scripts of completions/."""

from __future__ import annotations

import sys

from kcli.cli.parsing.command import command
from kcli.cli.parsing.option import Options
from kcli.errors import UsageError

SHELLS = ("bash", "zsh", "fish")


def script(shell: str) -> str:
    """The completion script of a shell. Raises UsageError for a shell we have none for."""
    from kcli.cli.completion.scripts import SCRIPTS

    if shell not in SCRIPTS:
        raise UsageError(f"no completion script for {shell}; there is one for {', '.join(SHELLS)}")
    return SCRIPTS[shell]


class CompletionOptions(Options):
    """The word is the shell."""


@command(
    "completion",
    words="bash|zsh|fish",
    examples="""
eval "$(kcli completion bash)"                        # in ~/.bashrc
eval "$(kcli completion zsh)"                         # in ~/.zshrc
kcli completion fish > ~/.config/fish/completions/kcli.fish""",
)
def completion(options: CompletionOptions) -> int:
    """Print the completion script of a shell: bash, zsh or fish.

    Commands and options complete, and names from the cluster that the line, the environment or the profile names:
    within 0.3 s or not at all, and from a cache of half a minute.
    """
    if len(options.words) != 1:
        raise UsageError(f"kcli completion takes one shell: {', '.join(SHELLS)}")
    sys.stdout.write(script(options.words[0]))
    return 0
