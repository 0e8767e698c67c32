"""The commands of `kcli undo`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='force', flags=('--force',), kind='flag', help='Undo also what was changed again since; with a file, on another cluster too.')
_1 = Option(name='ids', flags=('--ids',), help='keep (default): the ids of the source, by the mode IMPORT. new: ids that the registry gives.', choices=('keep', 'new'))
_2 = Option(name='schema_registry', flags=('--schema-registry',), metavar='URL', help='The registry. Else schema.registry.url of the profile.')
_3 = Option(name='undo_file', flags=('--undo-file',), metavar='FILE', help='Also write the previous state to this file, for `kcli undo FILE`.', panel='Plan')
_4 = Option(name='no_undo', flags=('--no-undo',), kind='flag', help='Keep nothing to undo the change with.', panel='Plan')
_5 = Option(name='execute', flags=('--execute',), kind='flag', help='Apply the plan. Without it the plan is only shown (and confirmed on a terminal).', panel='Plan')
_6 = Option(name='yes', flags=('-y', '--yes'), kind='flag', help='Answer the question on a terminal with yes.', panel='Plan')
_7 = Option(name='expect', flags=('--expect',), kind='int', metavar='N', help='Apply a plan by a pattern only if N names match.', least=1, panel='Plan')
_8 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show the plan.', panel='Plan')
_9 = Option(name='format', flags=('--format',), help='table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'), panel='Output')
_10 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.', panel='Output')
_11 = Option(name='wide', flags=('--wide',), kind='flag', help='Show all columns, uncut, with exact numbers, on a terminal too.', panel='Output', folded=True)
_12 = Option(name='no_headers', flags=('--no-headers',), kind='flag', help='Print no titles in tables, CSV and TSV.', panel='Output', folded=True)
_13 = Option(name='local', flags=('--local',), kind='flag', help="Print times in this machine's zone, with its offset (default: UTC).", panel='Output', folded=True)
_14 = Option(name='utc', flags=('--utc',), kind='flag', help='Read times without a zone as UTC (default: as local).', panel='Output', folded=True)
_15 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_16 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_17 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_18 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_19 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_20 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_21 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_22 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_23 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_24 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)

COMMANDS = {
    '': Command(name='undo', run='kcli.cli.commands.journal.undo:undo', help='Undo a change, by its number or its undo file.', description='Restore what a change replaced: configs, offsets, ACLs, quotas, replicas, schemas, and what `apply` changed.\nWithout a number, list the last changes that can be undone. The plan comes first; --execute applies it.\n\nUndo refuses to run on another cluster, or where a value has changed since, unless --force is given. An undo can\nbe undone, too.\n\n\x08\nExamples:\n  kcli undo                    # the last changes that can be undone\n  kcli undo 12                 # the plan\n  kcli undo 12 --execute\n  kcli undo before.json --execute    # a file of --undo-file', words='N|FILE', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24)),
}
