"""The commands of `kcli demo`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='file', flags=('--file',), metavar='FILE', help='A text file to send. Default: installed Python sources.')
_1 = Option(name='dashboard', flags=('--dashboard',), kind='flag', help='Open the dashboard afterwards (default: on a terminal).')
_2 = Option(name='no_dashboard', flags=('--no-dashboard',), kind='flag', help='Do not open the dashboard.')

COMMANDS = {
    '': Command(name='demo', run='kcli.cli.commands.demo.command:demo', description='Produce a file to the embedded sandbox, consume the same bytes, and show consumer lag.\n\nOn a terminal the dashboard opens at once, with a tour of five steps, on live producers and five groups: one keeps\nup, one falls behind, one is stuck, one has no members, one waits for an open transaction. The file goes\nthrough meanwhile; the steps are printed when the dashboard is left.\n\n\x08\nExamples:\n  kcli demo\n  kcli demo --no-dashboard\n  kcli demo --file access.log', options=(_0, _1, _2)),
}
