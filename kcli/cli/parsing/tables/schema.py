"""The commands of `kcli schema`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option


COMMANDS = {
    '': Command(name='schema', run='kcli.cli.commands.schema.schema:schema', description="Print the JSON schema of a command's --format json; without a name, list the commands that have one. `apply\nfile` is the schema of the files of `kcli apply`.\n\n\x08\nExamples:\n  kcli schema\n  kcli schema topics list\n  kcli schema lag > lag.schema.json\n  kcli schema apply file > kcli-cluster.schema.json     # for the editor", words='SHAPE', options=()),
}
