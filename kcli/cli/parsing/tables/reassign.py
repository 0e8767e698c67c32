"""The commands of `kcli reassign`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='over', flags=('--over',), metavar='DURATION', help='How long to look for the rate (default 1s; 0: no rate).')
_1 = Option(name='format', flags=('--format',), help='Default table; plain is values only; csv-safe is for spreadsheets: no text is a formula.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'))
_2 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.')
_3 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Where the cluster listens. Else KCLI_BOOTSTRAP, the profile, localhost:9092.')
_4 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Else KCLI_PROFILE, else its default_profile.')
_5 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.')
_6 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.')
_7 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster says FROM (host:port, or host), for tunnels. Repeatable.')
_8 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='The name of the protected profile with which something may be deleted or altered.')
_9 = Option(name='trace', flags=('--trace',), kind='flag', help='A line on stderr for each frame on the wire.')
_10 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='The lines of --trace, appended to FILE.')
_11 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Say nothing on stderr but errors.')
_12 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Say on stderr what was done.')
_13 = Option(name='save', flags=('--save',), metavar='FILE', help='Write the plan as kafka-reassign-partitions reads it.')
_14 = Option(name='named_topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC', help='The topic, instead of an argument.', also=('--topics',), word=True)
_15 = Option(name='internal', flags=('--internal',), kind='flag', help="Kafka's own topics too.")
_16 = Option(name='broker_list', flags=('--broker-list', '--to'), metavar='ID,ID…', help='Only these brokers get replicas. Default: all.')
_17 = Option(name='remove_brokers', flags=('--remove-broker',), multiple=True, metavar='ID', help='Move everything away from this one; of every topic when none is named. Repeatable.')
_18 = Option(name='replication', flags=('--replication-factor',), kind='int', metavar='N', help='So many replicas of each partition.', least=1)
_19 = Option(name='no_racks', flags=('--disable-rack-aware',), kind='flag', help='Do not spread replicas over racks.')
_20 = Option(name='no_balance', flags=('--no-balance',), kind='flag', help='Move only what has to, balanced or not.')
_21 = Option(name='all_topics', flags=('-a', '--all-topics'), kind='flag', help='Every topic.')
_22 = Option(name='additional', flags=('--additional',), kind='flag', help='Though other moves are under way.')
_23 = Option(name='throttle', flags=('--throttle',), metavar='RATE', help='Copy at most so many bytes a second at each broker: 50MiB. It is taken away when all is done.')
_24 = Option(name='batch', flags=('--batch',), kind='int', metavar='N', help='Move so many partitions at a time; waits.', least=1)
_25 = Option(name='on_interrupt', flags=('--on-interrupt',), help='What Ctrl-C does to moves under way: they go on throttled (default), unthrottled, or are cancelled.', choices=('keep', 'unthrottle', 'cancel'))
_26 = Option(name='wait', flags=('--wait',), kind='flag', help='Wait until all is done; then the throttle goes.')
_27 = Option(name='timeout', flags=('--timeout',), metavar='DURATION', help='Wait up to this long until it is done (default: without end), else exit 4.')
_28 = Option(name='undo_file', flags=('--undo-file',), metavar='FILE', help='Where to keep what there was before. Default: a new file in ~/.local/state/kcli/undo.')
_29 = Option(name='no_undo', flags=('--no-undo',), kind='flag', help='Keep no undo file.')
_30 = Option(name='execute', flags=('--execute',), kind='flag', help='Do it. Without, the plan is shown, and on a terminal you are asked.')
_31 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show what would be done.')
_32 = Option(name='keep_throttle', flags=('--preserve-throttles', '--keep-throttle'), kind='flag', help='Leave throttles as they are.')
_33 = Option(name='remove', flags=('--remove',), kind='flag', help='Take all throttles away.')
_34 = Option(name='brokers', flags=('--broker',), multiple=True, metavar='ID', help='At this broker. Repeatable.')
_35 = Option(name='to', flags=('--to',), metavar='PATH', help='To this directory.')
_36 = Option(name='away', flags=('--from',), metavar='PATH', help='Only what is in this directory.')
_37 = Option(name='even', flags=('--balance',), kind='flag', help='Until its directories are about as full.')

COMMANDS = {
    'list': Command(name='list', run='kcli.cli.commands.reassign.list:show', help='Moves under way: bytes and time left.', description='Print the moves that are under way, from whomever: what is added and removed, bytes left, and the rate and the\ntime left as seen within --over.\n\n\x08\nExamples:\n  kcli reassign\n  kcli reassign list --over 5s -J', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)),
    'plan': Command(name='plan', run='kcli.cli.commands.reassign.plan:plan', help='Where replicas would go: balanced, spread over racks, little moved.', description="Print a plan for topics: where replicas are and would be, the bytes to be copied, and what that makes of each\nbroker. Replicas are spread over racks, come to be as many on every broker, and as few bytes as possible are\ncopied; then preferred leaders are evened out, which copies nothing. Nothing is changed; `kcli reassign execute`\ndoes it, with the same options or with the file.\n\n\x08\nExamples:\n  kcli reassign plan orders payments\n  kcli reassign plan --all-topics --broker-list 1,2,3,4 --save plan.json\n  kcli reassign plan --remove-broker 3               # everything, Kafka's own topics too\n  kcli reassign plan orders --replication-factor 3", words='TOPIC', options=(_13, _14, _15, _16, _17, _18, _19, _20, _21, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)),
    'execute': Command(name='execute', run='kcli.cli.commands.reassign.execute:execute', help='Move partitions as a file says, or as a plan made now.', description="Move partitions to other brokers, as FILE says (kafka-reassign-partitions' JSON, of `plan --save`, of an undo\nfile), or as a plan made now from topics and options. The plan is shown first; --execute does it. Replicas are\nspread over racks, come to be as many on every broker, and as few bytes as possible are copied; then preferred\nleaders are evened out, which copies nothing. Where everything was is kept in an undo file, which `execute` reads\nas well.\n\n\x08\nExamples:\n  kcli reassign execute plan.json --throttle 50MiB --execute --wait\n  kcli reassign execute --remove-broker 3 --throttle 20MiB --execute --wait --batch 50\n  kcli reassign execute orders --replication-factor 3 --execute\n  kcli reassign execute ~/.local/state/kcli/undo/reassign-….json --execute   # back", words='FILE|TOPIC', options=(_22, _14, _15, _16, _17, _18, _19, _20, _21, _23, _24, _25, _26, _27, _28, _29, _30, _31, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)),
    'verify': Command(name='verify', run='kcli.cli.commands.reassign.verify:verify', help='Is it done? Then throttles go.', description='Print how far the moves of FILE are, or all that are under way. When nothing moves any more, the throttles that\nmoves left behind are taken away, whoever set them. Exit code 3 while something moves, 1 when a partition is\nelsewhere than FILE says.\n\n\x08\nExamples:\n  kcli reassign verify plan.json\n  kcli reassign verify --wait                          # all that is under way\n  kcli reassign verify plan.json --wait --timeout 1h -J', words='FILE', options=(_25, _26, _27, _32, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)),
    'cancel': Command(name='cancel', run='kcli.cli.commands.reassign.cancel:cancel', help='Take moves under way back.', description='Cancel moves: each partition is again where it was. The plan comes first; --execute does it. Then throttles go,\nunless something else moves. What was on its way is kept in an undo file, which `kcli reassign execute` begins\nanew.\n\n\x08\nExamples:\n  kcli reassign cancel plan.json --execute\n  kcli reassign cancel orders:0,3 --execute\n  kcli reassign cancel --all-topics --execute', words='FILE|TOPIC', options=(_14, _21, _32, _28, _29, _30, _31, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)),
    'throttle': Command(name='throttle', run='kcli.cli.commands.reassign.throttle:throttle', help='Show, change or remove the throttles of moves.', description='Print the throttles of replication that are set at topics and brokers; with RATE hold the moves under way to so\nmany bytes a second at each broker; with --remove take all away. A throttle that is left behind slows down\nreplicas that catch up.\n\n\x08\nExamples:\n  kcli reassign throttle\n  kcli reassign throttle 100MiB --execute\n  kcli reassign throttle --remove --execute', words='RATE', options=(_33, _30, _31, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)),
    'disks': Command(name='disks', run='kcli.cli.commands.reassign.disks.disks:disks', help='Move replicas between the disks of a broker.', description='Move replicas between the log directories of the broker that has them: to one directory, away from one, or so\nthat all directories of a broker are about as full. The plan comes first; --execute does it. `kcli logdirs` shows\nthe directories.\n\n\x08\nExamples:\n  kcli reassign disks --broker 1 --balance\n  kcli reassign disks --broker 1 --from /data/a --execute --wait      # empty a disk\n  kcli reassign disks orders:0 --broker 2 --to /data/b --throttle 50MiB --execute --wait', words='TOPIC', options=(_34, _35, _36, _37, _14, _26, _27, _23, _30, _31, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)),
}
