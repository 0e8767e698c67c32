"""The commands of `kcli demo`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='file', flags=('--file',), metavar='FILE', help='A text file to send. Default: installed Python sources.')
_1 = Option(name='dashboard', flags=('--dashboard',), kind='flag', help='Open the dashboard afterwards (default: on a terminal).')
_2 = Option(name='no_dashboard', flags=('--no-dashboard',), kind='flag', help='Do not open the dashboard.')

COMMANDS = {
    '': Command(name='demo', run='kcli.cli.commands.demo.command:demo', options=(_0, _1, _2)),
}
