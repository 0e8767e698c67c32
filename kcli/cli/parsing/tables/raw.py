"""The commands of `kcli raw`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='api_version', flags=('--api-version',), kind='int', metavar='N', help='The version. Default: the highest that both sides speak.', least=0)
_1 = Option(name='broker', flags=('--broker',), metavar='WHICH', help='Broker to ask: any (default), controller, ID, group:NAME or txn:ID (its coordinator), leader:TOPIC:N.')
_2 = Option(name='list', flags=('--list',), kind='flag', help='Print the APIs: versions of kcli and of the broker.')
_3 = Option(name='describe', flags=('--describe',), kind='flag', help='Print the fields of an API, request and answer.')
_4 = Option(name='hex', flags=('--hex',), kind='flag', help='Show the bytes of both frames on stderr.')
_5 = Option(name='explain', flags=('--explain',), kind='flag', help='Add the name of each error code.')
_6 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Print the whole request, and send nothing.')
_7 = Option(name='columns', flags=('--columns',), metavar='COLUMN,…', help='Print only these columns, in this order.', panel='Output', folded=True)
_8 = Option(name='sort', flags=('--sort',), metavar='COLUMN', help='Sort by a column: amounts and times from the largest, others from the least. COLUMN:asc or :desc.', panel='Output', folded=True)
_9 = Option(name='top', flags=('--top',), kind='int', metavar='N', help='Print only the first N rows.', least=1, panel='Output', folded=True)
_10 = Option(name='watch', flags=('-w', '--watch'), kind='flag', help='Refresh until Ctrl-C; on a terminal in place.', panel='Watch', folded=True)
_11 = Option(name='interval', flags=('--interval',), metavar='DURATION', help='Refresh interval of --watch (default 5s).', panel='Watch', folded=True)
_12 = Option(name='refreshes', flags=('--refreshes',), kind='int', metavar='N', help='Stop after N refreshes of --watch.', least=1, panel='Watch', folded=True)
_13 = Option(name='format', flags=('--format',), help='table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'), panel='Output')
_14 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.', panel='Output')
_15 = Option(name='wide', flags=('--wide',), kind='flag', help='Show all columns, uncut, with exact numbers, on a terminal too.', panel='Output', folded=True)
_16 = Option(name='no_headers', flags=('--no-headers',), kind='flag', help='Print no titles in tables, CSV and TSV.', panel='Output', folded=True)
_17 = Option(name='local', flags=('--local',), kind='flag', help="Print times in this machine's zone, with its offset (default: UTC).", panel='Output', folded=True)
_18 = Option(name='utc', flags=('--utc',), kind='flag', help='Read times without a zone as UTC (default: as local).', panel='Output', folded=True)
_19 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_20 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_21 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_22 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_23 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_24 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_25 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_26 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_27 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_28 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)

COMMANDS = {
    '': Command(name='raw', run='kcli.cli.commands.raw.raw:run', description='Send any request of Kafka\'s protocol and print the answer as JSON. The API is named by name or key. The body is\nJSON in the field names of Kafka\'s schemas (or ours): an argument, @FILE, or - for stdin; missing fields take the\nschema\'s defaults, bytes are base64. A profile\'s guard holds here too: read_only sends nothing that changes\nanything.\n\nError codes in the answer are named on stderr, and make the exit code 1.\n\n\x08\nExamples:\n  kcli raw --list                                  # the APIs, with the versions of kcli and the broker\n  kcli raw --describe Metadata --api-version 12    # fields, types, defaults\n  kcli raw Metadata \'{"topics": [{"name": "orders"}]}\'\n  kcli raw 60 --broker 2 --api-version 0 --explain\n  kcli raw DescribeGroups \'{"groups": ["billing"]}\' --broker group:billing\n  kcli raw DeleteTopics @delete.json --broker controller --dry-run\n  kcli raw ListOffsets - --broker leader:orders:0 --hex < body.json', words='API [BODY]', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28)),
}
