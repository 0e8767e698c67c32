"""`kcli completion SHELL`: the scripts of completions/, which Typer makes and a test keeps equal to them."""

from __future__ import annotations

import sys

from kcli.errors import UsageError

SHELLS = ("bash", "zsh", "fish")


def script(shell: str) -> str:
    """Typer's completion script of a shell. Raises UsageError for a shell we have none for."""
    if shell not in SHELLS:
        raise UsageError(f"no completion script for {shell}; there is one for {', '.join(SHELLS)}")
    from typer.completion import get_completion_script  # type: ignore[attr-defined]  # it is imported there

    return str(get_completion_script(prog_name="kcli", complete_var="_KCLI_COMPLETE", shell=shell)) + "\n"


def run(words: list[str]) -> int:
    """Print the completion script of a shell: bash, zsh or fish.

    \b
    Examples:
      eval "$(kcli completion bash)"                        in ~/.bashrc
      kcli completion fish > ~/.config/fish/completions/kcli.fish"""
    if len(words) != 1:
        raise UsageError(f"kcli completion takes one shell: {', '.join(SHELLS)}")
    sys.stdout.write(script(words[0]))
    return 0
