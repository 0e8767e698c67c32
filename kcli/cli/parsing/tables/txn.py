"""The commands of `kcli txn`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='txn_states', flags=('--state',), multiple=True, metavar='TXN-STATE', help='Only in this state: Ongoing, Empty, CompleteCommit, … Repeatable.')
_1 = Option(name='producer_ids', flags=('--producer-id',), multiple=True, metavar='N', help='Only of this producer id. Repeatable.')
_2 = Option(name='longer_than', flags=('--longer-than', '--duration-filter'), metavar='DURATION', help='Only with a transaction that has run longer, such as 5m.')
_3 = Option(name='pattern', flags=('--pattern', '--transactional-id-pattern'), metavar='REGEX', help='Only ids that match as a whole (RE2, Kafka 4.1).')
_4 = Option(name='brokers', flags=('--broker',), multiple=True, metavar='ID', help='Only ids that this broker coordinates. Repeatable.', also=('--broker-id',))
_5 = Option(name='open', flags=('--open',), kind='flag', help='Only with an open transaction.')
_6 = Option(name='columns', flags=('--columns',), metavar='COLUMN,…', help='Print only these columns, in this order.', panel='Output', folded=True)
_7 = Option(name='sort', flags=('--sort',), metavar='COLUMN', help='Sort by a column: amounts and times from the largest, others from the least. COLUMN:asc or :desc.', panel='Output', folded=True)
_8 = Option(name='top', flags=('--top',), kind='int', metavar='N', help='Print only the first N rows.', least=1, panel='Output', folded=True)
_9 = Option(name='watch', flags=('-w', '--watch'), kind='flag', help='Refresh until Ctrl-C; on a terminal in place.', panel='Watch', folded=True)
_10 = Option(name='interval', flags=('--interval',), metavar='DURATION', help='Refresh interval of --watch (default 5s).', panel='Watch', folded=True)
_11 = Option(name='refreshes', flags=('--refreshes',), kind='int', metavar='N', help='Stop after N refreshes of --watch.', least=1, panel='Watch', folded=True)
_12 = Option(name='format', flags=('--format',), help='table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'), panel='Output')
_13 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.', panel='Output')
_14 = Option(name='wide', flags=('--wide',), kind='flag', help='Show all columns, uncut, with exact numbers, on a terminal too.', panel='Output', folded=True)
_15 = Option(name='no_headers', flags=('--no-headers',), kind='flag', help='Print no titles in tables, CSV and TSV.', panel='Output', folded=True)
_16 = Option(name='local', flags=('--local',), kind='flag', help="Print times in this machine's zone, with its offset (default: UTC).", panel='Output', folded=True)
_17 = Option(name='utc', flags=('--utc',), kind='flag', help='Read times without a zone as UTC (default: as local).', panel='Output', folded=True)
_18 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_19 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_20 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_21 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_22 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_23 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_24 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_25 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_26 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_27 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)
_28 = Option(name='named_transactions', flags=('--transactional-id',), multiple=True, metavar='TXN', help='The transactional id, instead of an argument.', word=True)
_29 = Option(name='broker', flags=('--broker',), kind='int', metavar='ID', help="Ask this broker's replica, not the leaders.", least=0)
_30 = Option(name='named_topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC', help='The topic, instead of an argument.', also=('--topics',), word=True, panel='Names', folded=True)
_31 = Option(name='literal', flags=('--literal',), kind='flag', help="Read names as they are. Default: a glob ('orders-*') or '^RE' (from the start of the name) is a pattern.", panel='Names', folded=True)
_32 = Option(name='older_than', flags=('--older-than',), metavar='DURATION', help='Minimum age of its last record (default 15m, the longest timeout brokers allow).')
_33 = Option(name='brokers', flags=('--broker',), multiple=True, metavar='ID', help='Only partitions that this broker leads. Repeatable.', also=('--broker-id',))
_34 = Option(name='start_offset', flags=('--start-offset',), kind='int', metavar='N', help='First offset, as find-hanging prints it (OPEN SINCE).', least=0)
_35 = Option(name='topic', flags=('-t', '--topic'), metavar='TOPIC', help="The topic, in the form of Kafka's tool.")
_36 = Option(name='partition', flags=('-p', '--partition'), kind='int', metavar='N', help='The partition.', least=0)
_37 = Option(name='producer_id', flags=('--producer-id',), kind='int', metavar='N', help='Instead of --start-offset, with both epochs; nothing is checked.', least=0)
_38 = Option(name='producer_epoch', flags=('--producer-epoch',), kind='int', metavar='N', help='Its epoch.', least=0)
_39 = Option(name='coordinator_epoch', flags=('--coordinator-epoch',), kind='int', metavar='N', help='The epoch of its coordinator; -1 for one that never wrote a marker.', least=-1)
_40 = Option(name='fence', flags=('--fence',), kind='flag', help='The arguments are transactional ids: fence them.')
_41 = Option(name='force', flags=('--force',), kind='flag', help='Also a transaction that its coordinator knows; its other partitions stay open.')
_42 = Option(name='execute', flags=('--execute',), kind='flag', help='Apply the plan. Without it the plan is only shown (and confirmed on a terminal).', panel='Plan')
_43 = Option(name='yes', flags=('-y', '--yes'), kind='flag', help='Answer the question on a terminal with yes.', panel='Plan')
_44 = Option(name='expect', flags=('--expect',), kind='int', metavar='N', help='Apply a plan by a pattern only if N names match.', least=1, panel='Plan')
_45 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show the plan.', panel='Plan')

COMMANDS = {
    'list': Command(name='list', run='kcli.cli.commands.txn.list:list_all', help='List transactional ids: state, producer, age.', description="List transactional ids as their coordinators know them; all brokers are asked. The brokers filter.\n\n\x08\nExamples:\n  kcli txn list\n  kcli txn list --open --longer-than 5m        # transactions that block readers\n  kcli txn list --pattern 'billing-.*' -J\n  kcli txn list --producer-id 1042             # id of this producer", options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27)),
    'describe': Command(name='describe', run='kcli.cli.commands.txn.describe:describe', help='Show transactional ids with timeout, age and open partitions.', description="Print transactional ids: state, producer id and epoch, timeout, age, and the partitions that wait for the\nmarkers, with the offset that blocks each.\n\n\x08\nExamples:\n  kcli txn describe billing-1\n  kcli txn describe billing-1 billing-2 -J | jq '.partitions[].topic'", words='TXN', options=(_28, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27)),
    'producers': Command(name='producers', run='kcli.cli.commands.txn.producers:producers', help='Show producers of partitions and open transactions.', description='Print the producers that partitions know: idempotent and transactional ones, the last to write first.\n\n\x08\nExamples:\n  kcli txn producers orders\n  kcli txn producers orders:0,1 --open\n  kcli txn producers orders:0 --broker 2       # as this replica knows them', words='TOPIC[:0,1]', options=(_29, _30, _31, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27)),
    'find-hanging': Command(name='find-hanging', run='kcli.cli.commands.txn.find_hanging:find_hanging', help='Find open transactions that no coordinator will end.', description='Find hanging transactions (KIP-664): open in a partition, its last record older than --older-than, and its\ncoordinator either does not know the producer or does not count the partition in. Readers of committed records\nwait for it for ever. All topics are scanned, or those named. Exit code 3 when one hangs.\n\n\x08\nExamples:\n  kcli txn find-hanging\n  kcli txn find-hanging orders --older-than 1h\n  kcli txn find-hanging --broker 2 -J', words='TOPIC[:0,1]', options=(_32, _33, _30, _31, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27)),
    'abort': Command(name='abort', run='kcli.cli.commands.txn.abort:abort_command', help='Abort a hanging transaction in a partition.', description='Abort a hanging transaction by writing the marker that its coordinator will never write. It is named by the\noffset at which it began; one that its coordinator knows is refused: `kcli txn fence` is for those. The plan\ncomes first; --execute applies it. This cannot be undone.\n\n\x08\nExamples:\n  kcli txn abort orders:0 --start-offset 42\n  kcli txn abort orders:0 --start-offset 42 --execute\n  kcli txn abort orders:0 --producer-id 7 --producer-epoch 0 --coordinator-epoch 3 --execute\n  kcli txn abort --fence billing-1 --execute   # the same as kcli txn fence', words='TOPIC[:0,1]', options=(_34, _35, _36, _37, _38, _39, _40, _41, _42, _43, _44, _45, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27)),
    'fence': Command(name='fence', run='kcli.cli.commands.txn.fence:fence', help='Fence producers by transactional id; abort their transactions.', description='Fence transactional ids: the open transaction of each is aborted by its coordinator, and the producer that used\nit gets PRODUCER_FENCED. The plan comes first; --execute applies it.\n\n\x08\nExamples:\n  kcli txn fence billing-1\n  kcli txn fence billing-1 --execute', words='TXN', options=(_28, _42, _43, _44, _45, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27)),
}
