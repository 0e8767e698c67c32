"""The commands of `kcli reassign`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='over', flags=('--over',), metavar='DURATION', help='Time over which the rate is measured (default 1s; 0: no rate).')
_1 = Option(name='columns', flags=('--columns',), metavar='COLUMN,…', help='Print only these columns, in this order.', panel='Output', folded=True)
_2 = Option(name='sort', flags=('--sort',), metavar='COLUMN', help='Sort by a column: amounts and times from the largest, others from the least. COLUMN:asc or :desc.', panel='Output', folded=True)
_3 = Option(name='top', flags=('--top',), kind='int', metavar='N', help='Print only the first N rows.', least=1, panel='Output', folded=True)
_4 = Option(name='watch', flags=('-w', '--watch'), kind='flag', help='Refresh until Ctrl-C; on a terminal in place.', panel='Watch', folded=True)
_5 = Option(name='interval', flags=('--interval',), metavar='DURATION', help='Refresh interval of --watch (default 5s).', panel='Watch', folded=True)
_6 = Option(name='refreshes', flags=('--refreshes',), kind='int', metavar='N', help='Stop after N refreshes of --watch.', least=1, panel='Watch', folded=True)
_7 = Option(name='format', flags=('--format',), help='table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'), panel='Output')
_8 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.', panel='Output')
_9 = Option(name='wide', flags=('--wide',), kind='flag', help='Show all columns, uncut, with exact numbers, on a terminal too.', panel='Output', folded=True)
_10 = Option(name='no_headers', flags=('--no-headers',), kind='flag', help='Print no titles in tables, CSV and TSV.', panel='Output', folded=True)
_11 = Option(name='local', flags=('--local',), kind='flag', help="Print times in this machine's zone, with its offset (default: UTC).", panel='Output', folded=True)
_12 = Option(name='utc', flags=('--utc',), kind='flag', help='Read times without a zone as UTC (default: as local).', panel='Output', folded=True)
_13 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_14 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_15 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_16 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_17 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_18 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_19 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_20 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_21 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_22 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)
_23 = Option(name='save', flags=('--save',), metavar='FILE', help='Write the plan as kafka-reassign-partitions reads it.')
_24 = Option(name='named_topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC', help='The topic, instead of an argument.', also=('--topics',), word=True, panel='Names', folded=True)
_25 = Option(name='internal', flags=('--internal',), kind='flag', help="Include Kafka's internal topics.")
_26 = Option(name='broker_list', flags=('--broker-list', '--to'), metavar='ID,ID…', help='Only these brokers get replicas (default: all).')
_27 = Option(name='remove_brokers', flags=('--remove-broker',), multiple=True, metavar='ID', help='Move all replicas off this broker (of all topics if none is named). Repeatable.')
_28 = Option(name='replication', flags=('--replication-factor',), kind='int', metavar='N', help='Number of replicas of each partition.', least=1)
_29 = Option(name='no_racks', flags=('--disable-rack-aware',), kind='flag', help='Do not spread replicas over racks.')
_30 = Option(name='no_balance', flags=('--no-balance',), kind='flag', help='Move only the replicas that must move; do not balance.')
_31 = Option(name='literal', flags=('--literal',), kind='flag', help="Read names as they are. Default: a glob ('orders-*') or '^RE' (from the start of the name) is a pattern.", panel='Names', folded=True)
_32 = Option(name='all_topics', flags=('-a', '--all-topics'), kind='flag', help='Every topic.', also=('--all-topic-partitions',))
_33 = Option(name='additional', flags=('--additional',), kind='flag', help='Add to moves in progress.')
_34 = Option(name='files', flags=('--reassignment-json-file',), multiple=True, metavar='FILE', help='FILE, instead of an argument.', hidden=True, word=True)
_35 = Option(name='throttle', flags=('--throttle',), metavar='RATE', help='Limit copying to this many bytes a second per broker: 50MiB. Removed when all moves are done.')
_36 = Option(name='batch', flags=('--batch',), kind='int', metavar='N', help='Move N partitions at a time; waits.', least=1)
_37 = Option(name='on_interrupt', flags=('--on-interrupt',), help='On Ctrl-C: continue throttled (default), unthrottled, or cancel.', choices=('keep', 'unthrottle', 'cancel'))
_38 = Option(name='wait', flags=('--wait',), kind='flag', help='Wait until all moves are done, then remove the throttle.')
_39 = Option(name='timeout', flags=('--timeout',), metavar='DURATION', help='Wait up to this long until it is done (default: without end), else exit 4.')
_40 = Option(name='undo_file', flags=('--undo-file',), metavar='FILE', help='Also write the previous state to this file, for `kcli undo FILE`.', panel='Plan')
_41 = Option(name='no_undo', flags=('--no-undo',), kind='flag', help='Keep nothing to undo the change with.', panel='Plan')
_42 = Option(name='execute', flags=('--execute',), kind='flag', help='Apply the plan. Without it the plan is only shown (and confirmed on a terminal).', panel='Plan')
_43 = Option(name='yes', flags=('-y', '--yes'), kind='flag', help='Answer the question on a terminal with yes.', panel='Plan')
_44 = Option(name='expect', flags=('--expect',), kind='int', metavar='N', help='Apply a plan by a pattern only if N names match.', least=1, panel='Plan')
_45 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show the plan.', panel='Plan')
_46 = Option(name='keep_throttle', flags=('--preserve-throttles', '--keep-throttle'), kind='flag', help='Keep throttles.')
_47 = Option(name='remove', flags=('--remove',), kind='flag', help='Remove all throttles.')
_48 = Option(name='brokers', flags=('--broker',), multiple=True, metavar='ID', help='At this broker. Repeatable.', also=('--broker-id',))
_49 = Option(name='to', flags=('--to',), metavar='PATH', help='To this directory.')
_50 = Option(name='away', flags=('--from',), metavar='PATH', help='Only replicas in this directory.')
_51 = Option(name='even', flags=('--balance',), kind='flag', help='Balance the used bytes of its directories.')

COMMANDS = {
    'list': Command(name='list', run='kcli.cli.commands.reassign.list:show', help='List moves in progress: bytes and time left.', description='Print all moves in progress: replicas added and removed, bytes left, and the rate and time left, measured over\n--over.\n\n\x08\nExamples:\n  kcli reassign\n  kcli reassign list --over 5s -J', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22)),
    'plan': Command(name='plan', run='kcli.cli.commands.reassign.plan:plan', help='Plan balanced replicas, spread over racks, with few moves.', description='Print a plan for topics: current and new replicas, the bytes to copy, and each broker before and after.\nReplicas are spread over racks and evenly over brokers, with as few bytes copied as possible; then preferred\nleaders are balanced, which copies nothing. Nothing is changed; `kcli reassign execute` does it, with the same\noptions or with the file.\n\n\x08\nExamples:\n  kcli reassign plan orders payments\n  kcli reassign plan --all-topics --broker-list 1,2,3,4 --save plan.json\n  kcli reassign plan --remove-broker 3               # all topics, internal ones too\n  kcli reassign plan orders --replication-factor 3', words='TOPIC', options=(_23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22)),
    'execute': Command(name='execute', run='kcli.cli.commands.reassign.execute:execute', help='Move partitions by a file, or by a new plan.', description="Move partitions to other brokers, as FILE says (kafka-reassign-partitions' JSON, of `plan --save`, of an undo\nfile), or by a new plan from topics and options. The plan is shown first; --execute applies it. Replicas are\nspread over racks and evenly over brokers, with as few bytes copied as possible; then preferred leaders are\nbalanced, which copies nothing. `kcli undo` moves them back.\n\n\x08\nExamples:\n  kcli reassign execute plan.json --throttle 50MiB --execute --wait\n  kcli reassign execute --remove-broker 3 --throttle 20MiB --execute --wait --batch 50\n  kcli reassign execute orders --replication-factor 3 --execute\n  kcli reassign execute before.json --execute    # back: of --undo-file", words='FILE|TOPIC', options=(_33, _34, _24, _25, _26, _27, _28, _29, _30, _31, _32, _35, _36, _37, _38, _39, _40, _41, _42, _43, _44, _45, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22)),
    'verify': Command(name='verify', run='kcli.cli.commands.reassign.verify:verify', help='Check whether moves are done; remove their throttles.', description='Print the progress of the moves of FILE, or of all moves. When no move is left, all throttles of moves are\nremoved. Exit code 3 while a move is in progress, 1 when replicas differ from FILE.\n\n\x08\nExamples:\n  kcli reassign verify plan.json\n  kcli reassign verify --wait                          # all moves in progress\n  kcli reassign verify plan.json --wait --timeout 1h -J', words='FILE', options=(_34, _37, _38, _39, _46, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22)),
    'cancel': Command(name='cancel', run='kcli.cli.commands.reassign.cancel:cancel', help='Cancel moves in progress.', description='Cancel moves: each partition gets its previous replicas. The plan comes first; --execute applies it. Throttles\nare removed, unless other moves are in progress. `kcli undo` starts the cancelled moves again.\n\n\x08\nExamples:\n  kcli reassign cancel plan.json --execute\n  kcli reassign cancel orders:0,3 --execute\n  kcli reassign cancel --all-topics --execute', words='FILE|TOPIC', options=(_34, _24, _31, _32, _46, _40, _41, _42, _43, _44, _45, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22)),
    'throttle': Command(name='throttle', run='kcli.cli.commands.reassign.throttle:throttle', help='Show, change or remove the throttles of moves.', description='Print the throttles of replication that are set at topics and brokers; with RATE limit moves in progress\nto this many bytes a second at each broker; with --remove remove all throttles. A forgotten throttle slows down\nreplicas that catch up.\n\n\x08\nExamples:\n  kcli reassign throttle\n  kcli reassign throttle 100MiB --execute\n  kcli reassign throttle --remove --execute', words='RATE', options=(_47, _42, _43, _44, _45, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22)),
    'disks': Command(name='disks', run='kcli.cli.commands.reassign.disks.disks:disks', help='Move replicas between the disks of a broker.', description='Move replicas between the log directories of the broker that has them: to one directory, away from one, or so\nthat all directories of a broker are about as full. The plan comes first; --execute applies it. `kcli logdirs` shows\nthe directories.\n\n\x08\nExamples:\n  kcli reassign disks --broker 1 --balance\n  kcli reassign disks --broker 1 --from /data/a --execute --wait      # empty a disk\n  kcli reassign disks orders:0 --broker 2 --to /data/b --throttle 50MiB --execute --wait', words='TOPIC', options=(_48, _49, _50, _51, _24, _31, _38, _39, _35, _42, _43, _44, _45, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22)),
}
