"""The commands of `kcli groups`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='types', flags=('--type',), multiple=True, metavar='TYPE', help='Only this type: classic, consumer, share, streams.')
_1 = Option(name='states', flags=('--state',), multiple=True, metavar='STATE', help='Only groups in this state: Stable, Empty, …')
_2 = Option(name='format', flags=('--format',), help='Default table; plain is values only; csv-safe is for spreadsheets: no text is a formula.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'))
_3 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.')
_4 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Where the cluster listens. Else KCLI_BOOTSTRAP, the profile, localhost:9092.')
_5 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Else KCLI_PROFILE, else its default_profile.')
_6 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.')
_7 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.')
_8 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster says FROM (host:port, or host), for tunnels. Repeatable.')
_9 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='The name of the protected profile with which something may be deleted or altered.')
_10 = Option(name='trace', flags=('--trace',), kind='flag', help='A line on stderr for each frame on the wire.')
_11 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='The lines of --trace, appended to FILE.')
_12 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Say nothing on stderr but errors.')
_13 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Say on stderr what was done.')
_14 = Option(name='isolation', flags=('--isolation',), help='Which end lag is measured to: high watermark (default), or last stable offset.', choices=('read_uncommitted', 'read_committed'))
_15 = Option(name='named_groups', flags=('-g', '--group'), multiple=True, metavar='GROUP', help='The group, instead of an argument.', also=('--groups',), word=True)
_16 = Option(name='if_exists', flags=('--if-exists',), kind='flag', help='What does not exist is no failure.')
_17 = Option(name='undo_file', flags=('--undo-file',), metavar='FILE', help='Where to keep what there was before. Default: a new file in ~/.local/state/kcli/undo.')
_18 = Option(name='no_undo', flags=('--no-undo',), kind='flag', help='Keep no undo file.')
_19 = Option(name='execute', flags=('--execute',), kind='flag', help='Do it. Without, the plan is shown, and on a terminal you are asked.')
_20 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show what would be done.')
_21 = Option(name='to', flags=('--to',), metavar='WHERE', help='beginning, end, stored, N, -N (before the end), +N (after the start), @TIME.')
_22 = Option(name='to_earliest', flags=('--to-earliest',), kind='flag', help='Where the log starts.')
_23 = Option(name='to_latest', flags=('--to-latest',), kind='flag', help='Where the log ends.')
_24 = Option(name='to_offset', flags=('--to-offset',), kind='int', metavar='N', help='This offset.', least=0)
_25 = Option(name='to_datetime', flags=('--to-datetime',), metavar='TIME', help='The first record at or after it: 2026-01-31T10:00:00.000; UTC where no zone is named, as in Kafka.')
_26 = Option(name='by_duration', flags=('--by-duration',), metavar='DURATION', help='The first record of the last so long: PT1H30M, P1DT2H, or 90m.')
_27 = Option(name='shift_by', flags=('--shift-by',), kind='int', metavar='N', help='N after what is committed; -N before it.')
_28 = Option(name='to_current', flags=('--to-current',), kind='flag', help='What is committed; the end where nothing is.')
_29 = Option(name='from_file', flags=('--from-file',), metavar='FILE', help='An undo file, an export, or the CSV of kafka-consumer-groups --export; - is stdin.')
_30 = Option(name='from_group', flags=('--from-group',), metavar='GROUP', help='What another group has committed.')
_31 = Option(name='time_field', flags=('--time-field',), metavar='NAME', help="Times are those of this field in the value, such as ts or event.ts; else the records' timestamps.")
_32 = Option(name='jitter', flags=('--jitter',), metavar='DURATION', help="By how much the field's times may go back from record to record (default 1m).")
_33 = Option(name='value_format', flags=('--value-format',), help='How --where and --time-field read values; consume and tail print msgpack as JSON. url: a=1&b=2.', choices=('auto', 'json', 'msgpack', 'url'))
_34 = Option(name='topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC[:0,1]', help='A topic, all its partitions or those named: orders, orders:0,1, orders:0-5. Repeatable.')
_35 = Option(name='all_topics', flags=('--all-topics',), kind='flag', help='All topics the group has committed offsets of.')
_36 = Option(name='format', flags=('--format',), help="Default csv, Kafka's own.", choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'))

COMMANDS = {
    'list': Command(name='list', run='kcli.cli.commands.groups.list:list_all', help='List groups of all types.', description='List groups of all types: classic, consumer (KIP-848), share, streams.\n\n\x08\nExamples:\n  kcli groups list\n  kcli groups list --state Empty --format plain | cut -f1', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13)),
    'describe': Command(name='describe', run='kcli.cli.commands.groups.describe:describe', help='Partitions, lag and owners of groups.', description='Print each partition of groups with committed, end, lag, member and host; and the groups.\n\n\x08\nExamples:\n  kcli groups describe billing\n  kcli groups describe billing -J | jq .members', words='GROUP', options=(_14, _15, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13)),
    'members': Command(name='members', run='kcli.cli.commands.groups.members:members', help='Members of groups and what they own.', description='Print the members of groups, where they run and what they own.\n\n\x08\nExample:\n  kcli groups members billing', words='GROUP', options=(_15, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13)),
    'delete': Command(name='delete', run='kcli.cli.commands.groups.delete:delete', help='Delete groups without members.', description='Delete groups that have no members, and their committed offsets, which an undo file keeps.\n\n\x08\nExamples:\n  kcli groups delete billing --dry-run     # what would happen\n  kcli groups delete billing --execute', words='GROUP', options=(_16, _15, _17, _18, _19, _20, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13)),
    'reset': Command(name='reset', run='kcli.cli.commands.groups.reset.reset:reset', help='Change the committed offsets of groups.', description="Set the committed offsets of groups that have no members. The plan comes first: old, new and\ndelta of each partition; --execute does it, and on a terminal you may type the group's name instead.\n\nWhat was committed before is kept in an undo file, which `--from-file` takes back, also where nothing was committed.\nOffsets are clamped to the log, and the row says so. A group that does not exist is made.\n\n\x08\nExamples:\n  kcli groups reset billing --all-topics --to-earliest             # the plan\n  kcli groups reset billing -t orders:0,1 --to-offset 4711 --execute\n  kcli groups reset billing -t orders --to-datetime 2026-01-31T10:00:00Z --execute\n  kcli groups reset billing --all-topics --by-duration PT1H30M --execute\n  kcli groups reset billing --all-topics --shift-by -100 --execute\n  kcli groups reset billing -t orders --to @-2h --execute          # one grammar: as `consume -o`\n  kcli groups reset billing -t orders --to @-2h --time-field event.ts --execute    # by a time in the values\n  kcli groups reset --from-file undo.json --execute                # take a reset back\n  kcli groups reset billing-2 --from-group billing -t orders --execute", words='GROUP', options=(_15, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, _34, _35, _17, _18, _19, _20, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13)),
    'delete-offsets': Command(name='delete-offsets', run='kcli.cli.commands.groups.delete_offsets:delete_offsets', help='Delete committed offsets of groups, topic by topic.', description='Delete what groups committed of some topics. A group may have members, as long as none is\nsubscribed to the topic.\n\n\x08\nExamples:\n  kcli groups delete-offsets billing -t old-orders                 # the plan\n  kcli groups delete-offsets billing -t old-orders:3 --execute', words='GROUP', options=(_15, _34, _35, _17, _18, _19, _20, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13)),
    'clone': Command(name='clone', run='kcli.cli.commands.groups.clone:clone', help='Copy the committed offsets of a group to another.', description='Commit for TARGET what SOURCE has committed, with leader epochs and metadata. SOURCE may be at\nwork; TARGET must have no members, and need not exist. Commits of TARGET that SOURCE does not have stay.\n\n\x08\nExamples:\n  kcli groups clone billing billing-2                              # the plan\n  kcli groups clone billing billing-2 -t orders --execute', words='SOURCE TARGET', options=(_34, _15, _17, _18, _19, _20, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13)),
    'export': Command(name='export', run='kcli.cli.commands.groups.export:export', help='Print committed offsets, for --from-file.', description="Print what groups have committed, in a form that `groups reset --from-file` reads. All groups, or\nthose named.\n\ncsv is that of Kafka's own `kafka-consumer-groups --export`, which reads it as well: TOPIC,PARTITION,OFFSET, with\nthe group in front unless one GROUP is named. json keeps leader epochs and metadata too.\n\n\x08\nExamples:\n  kcli groups export billing > billing.csv\n  kcli groups export -J > all-groups.json\n  kcli groups reset --from-file all-groups.json --dry-run", words='GROUP', options=(_34, _36, _15, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13)),
}
