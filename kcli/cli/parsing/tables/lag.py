"""The commands of `kcli lag`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='by', flags=('--by',), help='A row per group (default for all groups), topic (for named ones) or partition.', choices=('group', 'topic', 'partition'))
_1 = Option(name='topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC', help='Only this topic. Repeatable.')
_2 = Option(name='states', flags=('--state',), multiple=True, metavar='STATE', help='Only groups in this state: Stable, Empty, …')
_3 = Option(name='max_lag', flags=('--max-lag',), kind='int', metavar='N', help='Exit with 3 when a group is more than N offsets behind; with --records, N records.', least=0)
_4 = Option(name='max_time', flags=('--max-time',), metavar='DURATION', help='Exit with 3 when the first unread record of a group is older, such as 5m.')
_5 = Option(name='hold', flags=('--for',), metavar='DURATION', help='The assertion must hold for this long.')
_6 = Option(name='timeout', flags=('--timeout',), metavar='DURATION', help='Wait up to this long until the assertion holds (default: no wait), else exit 4.')
_7 = Option(name='watch', flags=('-w', '--watch'), kind='flag', help='Refresh continuously: rates, ETA, time lag.')
_8 = Option(name='window', flags=('--window',), metavar='DURATION', help='Time window of the rates (default 60s).')
_9 = Option(name='exact', flags=('--exact',), kind='flag', help="Time lag by the record's own timestamp, of every partition.")
_10 = Option(name='internal', flags=('--internal',), kind='flag', help='Also the groups in which kcli copy and redrive keep their progress.')
_11 = Option(name='records', flags=('--records',), kind='flag', help='Count the records behind, by reading them.')
_12 = Option(name='replay', flags=('--replay',), metavar='FILE', help='Read a recording instead of the cluster (- is stdin).')
_13 = Option(name='html', flags=('--html',), metavar='FILE', help='With --replay: write one web page that replays the recording.')
_14 = Option(name='prometheus', flags=('--prometheus',), metavar='[HOST]:PORT', help='Serve /metrics; without HOST for this machine only.')
_15 = Option(name='isolation', flags=('--isolation',), help='Measure lag to the high watermark (default) or the last stable offset.', choices=('read_uncommitted', 'read_committed'), also=('--isolation-level',))
_16 = Option(name='named_groups', flags=('-g', '--group'), multiple=True, metavar='GROUP', help='The group, instead of an argument.', also=('--groups',), word=True, panel='Names', folded=True)
_17 = Option(name='literal', flags=('--literal',), kind='flag', help="Read names as they are. Default: a glob ('orders-*') or '^RE' (from the start of the name) is a pattern.", panel='Names', folded=True)
_18 = Option(name='columns', flags=('--columns',), metavar='COLUMN,…', help='Print only these columns, in this order.', panel='Output', folded=True)
_19 = Option(name='sort', flags=('--sort',), metavar='COLUMN', help='Sort by a column: amounts and times from the largest, others from the least. COLUMN:asc or :desc.', panel='Output', folded=True)
_20 = Option(name='top', flags=('--top',), kind='int', metavar='N', help='Print only the first N rows.', least=1, panel='Output', folded=True)
_21 = Option(name='interval', flags=('--interval',), metavar='DURATION', help='Refresh interval of --watch (default 5s).', panel='Watch', folded=True)
_22 = Option(name='refreshes', flags=('--refreshes',), kind='int', metavar='N', help='Stop after N refreshes of --watch.', least=1, panel='Watch', folded=True)
_23 = Option(name='format', flags=('--format',), help='table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'), panel='Output')
_24 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.', panel='Output')
_25 = Option(name='wide', flags=('--wide',), kind='flag', help='Show all columns, uncut, with exact numbers, on a terminal too.', panel='Output', folded=True)
_26 = Option(name='no_headers', flags=('--no-headers',), kind='flag', help='Print no titles in tables, CSV and TSV.', panel='Output', folded=True)
_27 = Option(name='local', flags=('--local',), kind='flag', help="Print times in this machine's zone, with its offset (default: UTC).", panel='Output', folded=True)
_28 = Option(name='utc', flags=('--utc',), kind='flag', help='Read times without a zone as UTC (default: as local).', panel='Output', folded=True)
_29 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_30 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_31 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_32 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_33 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_34 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_35 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_36 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_37 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_38 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)

COMMANDS = {
    '': Command(name='lag', run='kcli.cli.commands.lag.lag:lag', description='Print consumer lag of all groups, or of those named.\n\nLag is end minus committed, in offsets, which are not records: compaction, markers and aborted transactions leave\noffsets without a record. --records counts the records, and --max-lag then limits records. Committed is read before\nend. "–" means nothing was committed.\nORPHANED: lag and no member. LOSING DATA: retention took records before they were read.\n\n\x08\nExamples:\n  kcli lag                                 # all groups, the worst first\n  kcli lag billing                         # by topic\n  kcli lag \'billing-*\' -t \'^orders\'        # of all groups and topics that match\n  kcli lag billing --by partition          # by partition, with member and host\n  kcli lag billing --by partition --records        # and how many records that are, by reading them\n  kcli lag billing --max-lag 1000 -q       # exit code 3 when it is more\n  kcli lag --watch                         # rates, ETA and time lag, every 5 s; Ctrl-C ends it\n  kcli lag billing --watch --format ndjson | jq .eta\n  kcli lag billing --max-lag 0 --timeout 5m        # wait until it has caught up, else exit 4\n  kcli lag billing --max-time 5m --for 2m          # exit 3 as soon as it does not hold\n  kcli lag record > incident.ndjson                # then: kcli lag --replay incident.ndjson\n  kcli lag --replay incident.ndjson --html incident.html   # a page that replays it in any browser\n  kcli lag --prometheus :9308                      # metrics, as kafka_exporter names them\n  kcli lag --by partition -J | jq \'.partitions[] | select(.status == "ORPHANED")\'', words='GROUP', moved=(('-p', '--by partition'), ('--partitions', '--by partition')), options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, _34, _35, _36, _37, _38)),
}
