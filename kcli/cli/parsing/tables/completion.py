"""The commands of `kcli completion`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option


COMMANDS = {
    '': Command(name='completion', run='kcli.cli.commands.completion.completion:completion', description='Print the completion script of a shell: bash, zsh or fish.\n\nCommands and options complete, and names from the cluster that the line, the environment or the profile names:\nwithin 0.3 s or not at all, and from a cache of half a minute.\n\n\x08\nExamples:\n  eval "$(kcli completion bash)"                        # in ~/.bashrc\n  eval "$(kcli completion zsh)"                         # in ~/.zshrc\n  kcli completion fish > ~/.config/fish/completions/kcli.fish', words='bash|zsh|fish', options=()),
}
