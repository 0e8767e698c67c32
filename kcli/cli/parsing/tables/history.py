"""The commands of `kcli history`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='start', flags=('--start',), metavar='TIME', help='Only changes from this time on, such as -2d or 2026-01-31.')
_1 = Option(name='cluster', flags=('--cluster',), metavar='ID', help='Only changes to this cluster or registry.')
_2 = Option(name='undoable', flags=('--undoable',), kind='flag', help='Only changes that `kcli undo` can undo.')
_3 = Option(name='columns', flags=('--columns',), metavar='COLUMN,…', help='Print only these columns, in this order.', panel='Output', folded=True)
_4 = Option(name='sort', flags=('--sort',), metavar='COLUMN', help='Sort by a column: amounts and times from the largest, others from the least. COLUMN:asc or :desc.', panel='Output', folded=True)
_5 = Option(name='top', flags=('--top',), kind='int', metavar='N', help='Print only the first N rows.', least=1, panel='Output', folded=True)
_6 = Option(name='format', flags=('--format',), help='table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'), panel='Output')
_7 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.', panel='Output')
_8 = Option(name='wide', flags=('--wide',), kind='flag', help='Show all columns, uncut, with exact numbers, on a terminal too.', panel='Output', folded=True)
_9 = Option(name='no_headers', flags=('--no-headers',), kind='flag', help='Print no titles in tables, CSV and TSV.', panel='Output', folded=True)
_10 = Option(name='local', flags=('--local',), kind='flag', help="Print times in this machine's zone, with its offset (default: UTC).", panel='Output', folded=True)
_11 = Option(name='utc', flags=('--utc',), kind='flag', help='Read times without a zone as UTC (default: as local).', panel='Output', folded=True)
_12 = Option(name='watch', flags=('-w', '--watch'), kind='flag', help='Refresh until Ctrl-C; on a terminal in place.', panel='Watch', folded=True)
_13 = Option(name='interval', flags=('--interval',), metavar='DURATION', help='Refresh interval of --watch (default 5s).', panel='Watch', folded=True)
_14 = Option(name='refreshes', flags=('--refreshes',), kind='int', metavar='N', help='Stop after N refreshes of --watch.', least=1, panel='Watch', folded=True)
_15 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_16 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)

COMMANDS = {
    '': Command(name='history', run='kcli.cli.commands.journal.history:history', help='List the changes that kcli made to clusters.', description='List the changes that were applied on this machine, by commands with a plan, `apply` and the dashboard: the last\n1,000, the newest first. With a WORD, only those whose command line has it; several all have to be in it.\nThe journal is in ~/.local/state/kcli/journal, readable by this user alone.\n\n\x08\nExamples:\n  kcli history\n  kcli history --start -1d --undoable\n  kcli history topics delete -J', words='WORD', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16)),
}
