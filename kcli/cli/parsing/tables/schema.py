"""The commands of `kcli schema`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option


COMMANDS = {
    '': Command(name='schema', run='kcli.cli.commands.schema.schema:schema', description='The JSON schema of what a command prints with --format json; without a name, the commands that have one. `apply\nfile` is the schema of what `kcli apply` reads.\n\n\x08\nExamples:\n  kcli schema\n  kcli schema topics list\n  kcli schema lag > lag.schema.json\n  kcli schema apply file > kcli-cluster.schema.json     # for the editor', words='SHAPE', options=()),
}
