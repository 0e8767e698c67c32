"""The commands of `kcli schema`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option


COMMANDS = {
    '': Command(name='schema', run='kcli.cli.commands.schema.schema:schema', words='SHAPE', options=()),
}
