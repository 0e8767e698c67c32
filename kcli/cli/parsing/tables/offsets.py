"""The commands of `kcli offsets`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='at', flags=('--at',), metavar='TIME', help='Add the first offset at this time: ISO 8601, epoch, -1h, today, 07:30.')
_1 = Option(name='group', flags=('-g', '--group'), metavar='GROUP', help='Add the committed offsets of this group.')
_2 = Option(name='isolation', flags=('--isolation',), help='Measure lag to the high watermark (default) or the last stable offset.', choices=('read_uncommitted', 'read_committed'), also=('--isolation-level',))
_3 = Option(name='named_topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC', help='The topic, instead of an argument.', also=('--topics',), word=True, panel='Names', folded=True)
_4 = Option(name='literal', flags=('--literal',), kind='flag', help="Read names as they are. Default: a glob ('orders-*') or '^RE' (from the start of the name) is a pattern.", panel='Names', folded=True)
_5 = Option(name='time_field', flags=('--time-field',), metavar='NAME', help="Use the time in this field of the value, such as ts or event.ts, not the record's timestamp.", panel='Times in values', folded=True)
_6 = Option(name='jitter', flags=('--jitter',), metavar='DURATION', help='How much the times may decrease from record to record (default 1m).', panel='Times in values', folded=True)
_7 = Option(name='value_format', flags=('--value-format',), help='How --where and --time-field read values; consume and tail print msgpack as JSON. url: a=1&b=2. Numbers, cbor and those behind it are printed as JSON.', choices=('auto', 'json', 'msgpack', 'url', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'float', 'double', 'uuid', 'cbor', 'xml', 'protobuf-raw', 'consumer-offsets', 'transaction-state', 'share-group-state', 'mm2'), panel='Times in values', folded=True)
_8 = Option(name='columns', flags=('--columns',), metavar='COLUMN,…', help='Print only these columns, in this order.', panel='Output', folded=True)
_9 = Option(name='sort', flags=('--sort',), metavar='COLUMN', help='Sort by a column: amounts and times from the largest, others from the least. COLUMN:asc or :desc.', panel='Output', folded=True)
_10 = Option(name='top', flags=('--top',), kind='int', metavar='N', help='Print only the first N rows.', least=1, panel='Output', folded=True)
_11 = Option(name='watch', flags=('-w', '--watch'), kind='flag', help='Refresh until Ctrl-C; on a terminal in place.', panel='Watch', folded=True)
_12 = Option(name='interval', flags=('--interval',), metavar='DURATION', help='Refresh interval of --watch (default 5s).', panel='Watch', folded=True)
_13 = Option(name='refreshes', flags=('--refreshes',), kind='int', metavar='N', help='Stop after N refreshes of --watch.', least=1, panel='Watch', folded=True)
_14 = Option(name='format', flags=('--format',), help='table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'), panel='Output')
_15 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.', panel='Output')
_16 = Option(name='wide', flags=('--wide',), kind='flag', help='Show all columns, uncut, with exact numbers, on a terminal too.', panel='Output', folded=True)
_17 = Option(name='no_headers', flags=('--no-headers',), kind='flag', help='Print no titles in tables, CSV and TSV.', panel='Output', folded=True)
_18 = Option(name='local', flags=('--local',), kind='flag', help="Print times in this machine's zone, with its offset (default: UTC).", panel='Output', folded=True)
_19 = Option(name='utc', flags=('--utc',), kind='flag', help='Read times without a zone as UTC (default: as local).', panel='Output', folded=True)
_20 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_21 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_22 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_23 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_24 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_25 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_26 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_27 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_28 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_29 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)

COMMANDS = {
    '': Command(name='offsets', run='kcli.cli.commands.offsets.offsets:offsets', description="Print start, stable and end offset of each partition.\n\n\x08\nExamples:\n  kcli offsets orders\n  kcli offsets 'orders-*'\n  kcli offsets orders --at -1h            # the offset an hour ago\n  kcli offsets orders --at -1h --time-field event.ts    # by a time in the values\n  kcli offsets orders -g billing -J       # with the group's commits and lag", words='TOPIC', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29)),
}
