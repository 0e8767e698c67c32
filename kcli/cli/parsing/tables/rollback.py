"""The commands of `kcli rollback`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='start', flags=('--start',), metavar='TIME', help='Where to: earliest, latest, ISO 8601, epoch, -1h, today, 07:30.')
_1 = Option(name='named_groups', flags=('-g', '--group'), multiple=True, metavar='GROUP', help='The group, instead of an argument.', also=('--groups',), word=True, panel='Names', folded=True)
_2 = Option(name='literal', flags=('--literal',), kind='flag', help="Read names as they are. Default: a glob ('orders-*') or '^RE' (from the start of the name) is a pattern.", panel='Names', folded=True)
_3 = Option(name='time_field', flags=('--time-field',), metavar='NAME', help="Use the time in this field of the value, such as ts or event.ts, not the record's timestamp.", panel='Times in values', folded=True)
_4 = Option(name='jitter', flags=('--jitter',), metavar='DURATION', help='How much the times may decrease from record to record (default 1m).', panel='Times in values', folded=True)
_5 = Option(name='value_format', flags=('--value-format',), help='How --where and --time-field read values; consume and tail print msgpack as JSON. url: a=1&b=2. Numbers, cbor and those behind it are printed as JSON.', choices=('auto', 'json', 'msgpack', 'url', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'float', 'double', 'uuid', 'cbor', 'xml', 'protobuf-raw', 'consumer-offsets', 'transaction-state', 'share-group-state', 'mm2'), panel='Times in values', folded=True)
_6 = Option(name='create', flags=('--create',), kind='flag', help='Create a group that does not exist.')
_7 = Option(name='topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC[:0,1]', help='A topic, all its partitions or those named: orders, orders:0,1, orders:0-5. Repeatable.')
_8 = Option(name='all_topics', flags=('--all-topics',), kind='flag', help='All topics the group has committed offsets of.')
_9 = Option(name='undo_file', flags=('--undo-file',), metavar='FILE', help='Also write the previous state to this file, for `kcli undo FILE`.', panel='Plan')
_10 = Option(name='no_undo', flags=('--no-undo',), kind='flag', help='Keep nothing to undo the change with.', panel='Plan')
_11 = Option(name='execute', flags=('--execute',), kind='flag', help='Apply the plan. Without it the plan is only shown (and confirmed on a terminal).', panel='Plan')
_12 = Option(name='yes', flags=('-y', '--yes'), kind='flag', help='Answer the question on a terminal with yes.', panel='Plan')
_13 = Option(name='expect', flags=('--expect',), kind='int', metavar='N', help='Apply a plan by a pattern only if N names match.', least=1, panel='Plan')
_14 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show the plan.', panel='Plan')
_15 = Option(name='format', flags=('--format',), help='table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'), panel='Output')
_16 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.', panel='Output')
_17 = Option(name='wide', flags=('--wide',), kind='flag', help='Show all columns, uncut, with exact numbers, on a terminal too.', panel='Output', folded=True)
_18 = Option(name='no_headers', flags=('--no-headers',), kind='flag', help='Print no titles in tables, CSV and TSV.', panel='Output', folded=True)
_19 = Option(name='local', flags=('--local',), kind='flag', help="Print times in this machine's zone, with its offset (default: UTC).", panel='Output', folded=True)
_20 = Option(name='utc', flags=('--utc',), kind='flag', help='Read times without a zone as UTC (default: as local).', panel='Output', folded=True)
_21 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_22 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_23 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_24 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_25 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_26 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_27 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_28 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_29 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_30 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)

COMMANDS = {
    '': Command(name='rollback', run='kcli.cli.commands.groups.reset.rollback:rollback', description='Commit for a group the first offset of each partition whose record has that timestamp or a later one; with\n--time-field, that time in a field of its value. `consume --start TIME` begins with the same record. It is `groups\nreset --to @TIME` in short: the plan first, --execute applies it, `kcli undo` takes it back.\n\n\x08\nExamples:\n  kcli rollback billing -t orders --start -2h                                                 # by timestamps\n  kcli rollback billing -t orders --start earliest --execute\n  kcli rollback billing -t orders --time-field event.ts --start 2026-03-01T09:00Z             # the plan\n  kcli rollback billing -t orders --time-field event.ts --start -2h --jitter 5m --execute', words='GROUP', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30)),
}
