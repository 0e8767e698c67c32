"""The commands of `kcli doctor`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC', help='Check the permissions on this topic. Repeatable.')
_1 = Option(name='groups', flags=('-g', '--group'), multiple=True, metavar='GROUP', help='Check the permissions on this group. Repeatable.')
_2 = Option(name='timeout', flags=('--timeout',), metavar='DURATION', help='Wait up to this long for each step (default: 5s).')
_3 = Option(name='timeout_ms', flags=('--timeout-ms',), kind='int', metavar='MS', help='The same in ms, as Kafka has it.', least=1, hidden=True)
_4 = Option(name='format', flags=('--format',), help='table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'), panel='Output')
_5 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.', panel='Output')
_6 = Option(name='wide', flags=('--wide',), kind='flag', help='Show all columns, uncut, with exact numbers, on a terminal too.', panel='Output', folded=True)
_7 = Option(name='no_headers', flags=('--no-headers',), kind='flag', help='Print no titles in tables, CSV and TSV.', panel='Output', folded=True)
_8 = Option(name='local', flags=('--local',), kind='flag', help="Print times in this machine's zone, with its offset (default: UTC).", panel='Output', folded=True)
_9 = Option(name='utc', flags=('--utc',), kind='flag', help='Read times without a zone as UTC (default: as local).', panel='Output', folded=True)
_10 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_11 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_12 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_13 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_14 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_15 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_16 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_17 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_18 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_19 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)

COMMANDS = {
    '': Command(name='doctor', run='kcli.cli.commands.doctor.doctor:run', description='Check the connection to the cluster step by step: the configuration, DNS, TCP, TLS, ApiVersions, SASL, metadata,\nevery address that the brokers advertise, and your permissions. A step that fails says what is wrong and\nhow to fix it.\n\n\x08\nExit codes: 0 all is well, 1 something behind a connection (rights, a topic,\na broker too old), 2 the configuration, 5 a connection.\n\n\x08\nExamples:\n  kcli doctor -b kafka-1:9092\n  kcli doctor --profile prod -t orders -g billing      # with your permissions on them\n  kcli doctor --profile prod -J | jq \'.steps[] | select(.status == "failed")\'', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19)),
}
