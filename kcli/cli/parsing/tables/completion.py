"""The commands of `kcli completion`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option


COMMANDS = {
    '': Command(name='completion', run='kcli.cli.commands.completion.completion:completion', words='bash|zsh|fish', options=()),
}
