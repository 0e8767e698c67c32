"""The commands of `kcli reassign`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='over', flags=('--over',), metavar='SECONDS', help='How long to look for the rate (default 1; 0: no rate).')
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
_14 = Option(name='internal', flags=('--internal',), kind='flag', help="Kafka's own topics too.")
_15 = Option(name='broker_list', flags=('--broker-list', '--to'), metavar='ID,ID…', help='Only these brokers get replicas. Default: all.')
_16 = Option(name='remove_brokers', flags=('--remove-broker',), multiple=True, metavar='ID', help='Move everything away from this one; of every topic when none is named. Repeatable.')
_17 = Option(name='replication', flags=('--replication-factor',), kind='int', metavar='N', help='So many replicas of each partition.', least=1)
_18 = Option(name='no_racks', flags=('--disable-rack-aware',), kind='flag', help='Do not spread replicas over racks.')
_19 = Option(name='no_balance', flags=('--no-balance',), kind='flag', help='Move only what has to, balanced or not.')
_20 = Option(name='all_topics', flags=('-a', '--all-topics'), kind='flag', help='Every topic.')
_21 = Option(name='additional', flags=('--additional',), kind='flag', help='Though other moves are under way.')
_22 = Option(name='throttle', flags=('--throttle',), metavar='RATE', help='Copy at most so many bytes a second at each broker: 50MiB. It is taken away when all is done.')
_23 = Option(name='batch', flags=('--batch',), kind='int', metavar='N', help='Move so many partitions at a time; waits.', least=1)
_24 = Option(name='on_interrupt', flags=('--on-interrupt',), help='What Ctrl-C does to moves under way: they go on throttled (default), unthrottled, or are cancelled.', choices=('keep', 'unthrottle', 'cancel'))
_25 = Option(name='wait', flags=('--wait',), kind='flag', help='Wait until all is done; then the throttle goes.')
_26 = Option(name='timeout', flags=('--timeout',), kind='int', metavar='SECONDS', help='How long --wait waits, then exit 4. Default: as long as it takes.', least=0)
_27 = Option(name='undo_file', flags=('--undo-file',), metavar='FILE', help='Where to keep what there was before. Default: a new file in ~/.local/state/kcli/undo.')
_28 = Option(name='no_undo', flags=('--no-undo',), kind='flag', help='Keep no undo file.')
_29 = Option(name='execute', flags=('--execute',), kind='flag', help='Do it. Without, the plan is shown, and on a terminal you are asked.')
_30 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show what would be done.')
_31 = Option(name='keep_throttle', flags=('--preserve-throttles', '--keep-throttle'), kind='flag', help='Leave throttles as they are.')
_32 = Option(name='remove', flags=('--remove',), kind='flag', help='Take all throttles away.')
_33 = Option(name='brokers', flags=('--broker',), multiple=True, metavar='ID', help='At this broker. Repeatable.')
_34 = Option(name='to', flags=('--to',), metavar='PATH', help='To this directory.')
_35 = Option(name='away', flags=('--from',), metavar='PATH', help='Only what is in this directory.')
_36 = Option(name='even', flags=('--balance',), kind='flag', help='Until its directories are about as full.')

COMMANDS = {
    'list': Command(name='list', run='kcli.cli.commands.reassign.list:show', help='Moves under way: bytes and time left.', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)),
    'plan': Command(name='plan', run='kcli.cli.commands.reassign.plan:plan', help='Where replicas would go: balanced, spread over racks, little moved.', words='TOPIC', options=(_13, _14, _15, _16, _17, _18, _19, _20, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)),
    'execute': Command(name='execute', run='kcli.cli.commands.reassign.execute:execute', help='Move partitions as a file says, or as a plan made now.', words='FILE|TOPIC', options=(_21, _14, _15, _16, _17, _18, _19, _20, _22, _23, _24, _25, _26, _27, _28, _29, _30, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)),
    'verify': Command(name='verify', run='kcli.cli.commands.reassign.verify:verify', help='Is it done? Then throttles go.', words='FILE', options=(_24, _25, _26, _31, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)),
    'cancel': Command(name='cancel', run='kcli.cli.commands.reassign.cancel:cancel', help='Take moves under way back.', words='FILE|TOPIC', options=(_20, _31, _27, _28, _29, _30, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)),
    'throttle': Command(name='throttle', run='kcli.cli.commands.reassign.throttle:throttle', help='Show, change or remove the throttles of moves.', words='RATE', options=(_32, _29, _30, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)),
    'disks': Command(name='disks', run='kcli.cli.commands.reassign.disks.disks:disks', help='Move replicas between the disks of a broker.', words='TOPIC', options=(_33, _34, _35, _36, _25, _26, _22, _29, _30, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)),
}
