"""The commands of `kcli topics`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='match', flags=('--match',), metavar='REGEX', help="The same as '^REGEX$' for a TOPIC.", hidden=True)
_1 = Option(name='internal', flags=('--internal',), kind='flag', help="Include Kafka's internal topics.")
_2 = Option(name='named_topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC', help='The topic, instead of an argument.', also=('--topics',), word=True, panel='Names', folded=True)
_3 = Option(name='literal', flags=('--literal',), kind='flag', help="Read names as they are. Default: a glob ('orders-*') or '^RE' (from the start of the name) is a pattern.", panel='Names', folded=True)
_4 = Option(name='under_replicated', flags=('--under-replicated',), kind='flag', help='Only topics with fewer in-sync replicas than replicas.')
_5 = Option(name='unavailable', flags=('--unavailable',), kind='flag', help='Only topics with a partition that has no live leader.')
_6 = Option(name='at_min_isr', flags=('--at-min-isr',), kind='flag', help='Only topics with a partition that has exactly min.insync.replicas in sync.')
_7 = Option(name='under_min_isr', flags=('--under-min-isr',), kind='flag', help='Only topics with a partition that has fewer: it refuses acks=all.')
_8 = Option(name='unused', flags=('--unused',), metavar='DURATION', help='Only topics that no group reads and that got no record for this long (default 30d).', alone='30d')
_9 = Option(name='never_written', flags=('--never-written',), kind='flag', help='Only topics that no group reads and that never had a record.')
_10 = Option(name='columns', flags=('--columns',), metavar='COLUMN,…', help='Print only these columns, in this order.', panel='Output', folded=True)
_11 = Option(name='sort', flags=('--sort',), metavar='COLUMN', help='Sort by a column: amounts and times from the largest, others from the least. COLUMN:asc or :desc.', panel='Output', folded=True)
_12 = Option(name='top', flags=('--top',), kind='int', metavar='N', help='Print only the first N rows.', least=1, panel='Output', folded=True)
_13 = Option(name='watch', flags=('-w', '--watch'), kind='flag', help='Refresh until Ctrl-C; on a terminal in place.', panel='Watch', folded=True)
_14 = Option(name='interval', flags=('--interval',), metavar='DURATION', help='Refresh interval of --watch (default 5s).', panel='Watch', folded=True)
_15 = Option(name='refreshes', flags=('--refreshes',), kind='int', metavar='N', help='Stop after N refreshes of --watch.', least=1, panel='Watch', folded=True)
_16 = Option(name='format', flags=('--format',), help='table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'), panel='Output')
_17 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.', panel='Output')
_18 = Option(name='wide', flags=('--wide',), kind='flag', help='Show all columns, uncut, with exact numbers, on a terminal too.', panel='Output', folded=True)
_19 = Option(name='no_headers', flags=('--no-headers',), kind='flag', help='Print no titles in tables, CSV and TSV.', panel='Output', folded=True)
_20 = Option(name='local', flags=('--local',), kind='flag', help="Print times in this machine's zone, with its offset (default: UTC).", panel='Output', folded=True)
_21 = Option(name='utc', flags=('--utc',), kind='flag', help='Read times without a zone as UTC (default: as local).', panel='Output', folded=True)
_22 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_23 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_24 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_25 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_26 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_27 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_28 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_29 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_30 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_31 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)
_32 = Option(name='partitions', flags=('-p', '--partitions'), kind='int', metavar='N', help="Number of partitions; -1 is the broker's default.", least=-1)
_33 = Option(name='replicas', flags=('-r', '--replication-factor'), kind='int', metavar='N', help="Replicas of each partition; -1 is the broker's default.", least=-1)
_34 = Option(name='configs', flags=('--config',), multiple=True, metavar='KEY=VALUE', help='A topic config, also with a unit: retention.ms=7d. Repeatable.')
_35 = Option(name='if_not_exists', flags=('--if-not-exists',), kind='flag', help='Do not fail if the topic exists.')
_36 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only let the broker check; create nothing.')
_37 = Option(name='execute', flags=('--execute', '-y', '--yes'), kind='flag', help='Apply the plan, which is the default.', hidden=True)
_38 = Option(name='wait', flags=('--wait',), kind='flag', help='Wait until every broker has the change (default).')
_39 = Option(name='no_wait', flags=('--no-wait',), kind='flag', help='Do not wait until every broker has the change.')
_40 = Option(name='timeout', flags=('--timeout',), metavar='DURATION', help='Wait up to this long until every broker has the change (default: 30s), else exit 4.')
_41 = Option(name='undo_file', flags=('--undo-file',), metavar='FILE', help='Also write the previous state to this file, for `kcli undo FILE`.', panel='Plan')
_42 = Option(name='no_undo', flags=('--no-undo',), kind='flag', help='Keep nothing to undo the change with.', panel='Plan')
_43 = Option(name='if_exists', flags=('--if-exists',), kind='flag', help='Do not fail if it does not exist.')
_44 = Option(name='internal', flags=('--internal',), kind='flag', help="Allow the deletion of Kafka's internal topics.")
_45 = Option(name='execute', flags=('--execute',), kind='flag', help='Apply the plan. Without it the plan is only shown (and confirmed on a terminal).', panel='Plan')
_46 = Option(name='yes', flags=('-y', '--yes'), kind='flag', help='Answer the question on a terminal with yes.', panel='Plan')
_47 = Option(name='expect', flags=('--expect',), kind='int', metavar='N', help='Apply a plan by a pattern only if N names match.', least=1, panel='Plan')
_48 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show the plan.', panel='Plan')
_49 = Option(name='partitions', flags=('-p', '--partitions'), kind='int', metavar='N', help='New number of partitions; it can only grow.', least=1)
_50 = Option(name='configs', flags=('--config',), multiple=True, metavar='KEY=VALUE', help='Set a topic config, also with a unit: retention.ms=7d. Repeatable.')
_51 = Option(name='delete_configs', flags=('--delete-config',), multiple=True, metavar='KEY', help='Remove the override of a topic config. Repeatable.')
_52 = Option(name='before', flags=('--before', '-o'), metavar='WHERE', help='end, N, -N (before the end), +N (after the start), @TIME.')
_53 = Option(name='over', flags=('--over',), metavar='DURATION', help='Time over which the rate is measured (default 1s).')
_54 = Option(name='unused', flags=('--unused',), metavar='DURATION', help='Only topics not written to for this long (default 30d).', alone='30d')

COMMANDS = {
    'list': Command(name='list', run='kcli.cli.commands.topics.list:list_topics', help='List topics.', description="List topics, all or those named. Kafka's own are hidden unless --internal. A state restricts the list:\nunder-replicated, unavailable, at or under min.insync.replicas (as kafka-topics means them), or unused.\n\nA topic that never had a record may be new: Kafka does not report when a topic was created. --unused does not\nlist it, --never-written does.\n\n\x08\nExamples:\n  kcli topics list\n  kcli topics list 'orders*' --format plain | cut -f1\n  kcli topics list '^orders-[0-9]+$'\n  kcli topics list --under-replicated --unavailable\n  kcli topics list --unused                # no group reads it, no record for 30 days\n  kcli topics list --never-written", words='TOPIC', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31)),
    'describe': Command(name='describe', run='kcli.cli.commands.topics.describe:describe', help='Show partitions, offsets and configs of topics.', description="Print partitions with leader, replicas and offsets, and the topics with the configs set on them.\n\n\x08\nExamples:\n  kcli topics describe orders\n  kcli topics describe 'orders-*' payments\n  kcli topics describe orders -J | jq '.topics[].configs'", words='TOPIC', options=(_2, _3, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31)),
    'create': Command(name='create', run='kcli.cli.commands.topics.create:create', help='Create topics.', description="Create topics. Partitions and replicas default to the broker's configuration. `kcli undo` deletes them.\n\n\x08\nExamples:\n  kcli topics create orders\n  kcli topics create orders -p 12 -r 3 --config retention.ms=86400000\n  kcli topics create orders -p 12 --dry-run      # the broker checks, nothing is created", words='TOPIC', options=(_32, _33, _34, _35, _36, _37, _2, _38, _39, _40, _41, _42, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31)),
    'delete': Command(name='delete', run='kcli.cli.commands.topics.delete:delete', help='Delete topics.', description="Delete topics and all their records.\n\n\x08\nExamples:\n  kcli topics delete orders --dry-run      # the plan\n  kcli topics delete orders --execute\n  kcli topics delete 'tmp-*' --dry-run     # all that match", words='TOPIC', options=(_43, _44, _2, _3, _38, _39, _40, _45, _46, _47, _48, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31)),
    'alter': Command(name='alter', run='kcli.cli.commands.topics.alter:alter', help='Add partitions, set and remove configs.', description="Add partitions to topics, and set or remove configs. The plan comes first,\nchecked by the broker.\n\nMore partitions send the records of a key to another partition than before: the order by key breaks once.\n\n\x08\nExamples:\n  kcli topics alter orders -p 12 --execute\n  kcli topics alter orders --config retention.ms=1d --delete-config segment.ms -y\n  kcli topics alter 'orders-*' payments -p 12 --dry-run", words='TOPIC', options=(_49, _50, _51, _2, _3, _41, _42, _45, _46, _47, _48, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31)),
    'trim': Command(name='trim', run='kcli.cli.commands.topics.trim:trim', help='Delete the records before an offset.', description="Delete the records of topics before an offset or a time, for good. The plan comes first: old and new start of\neach log, and the number of offsets deleted.\n\n\x08\nExamples:\n  kcli topics trim orders --before @-7d --dry-run       # records older than a week\n  kcli topics trim orders:0,1 --before 4711 --execute\n  kcli topics trim 'orders-*' --before @-7d --dry-run\n  kcli topics trim orders --before end --execute        # all current records\n  kcli topics trim orders --before -1000 --execute      # all but the last 1000 of each partition", words='TOPIC[:0,1]', options=(_52, _2, _3, _45, _46, _47, _48, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31)),
    'stats': Command(name='stats', run='kcli.cli.commands.topics.stats:stats', help='Show size, offsets, rate and last write.', description='Print the size of topics, their growth and the time of the last write.\n\nRATE is measured over --over. Brokers before 3.0 do not report the last write, those before 1.0 no sizes.\n\n\x08\nExamples:\n  kcli topics stats\n  kcli topics stats orders payments --over 5s\n  kcli topics stats --unused                            # not written for 30 days\n  kcli topics stats --sort size --format plain', words='TOPIC', options=(_1, _53, _54, _2, _3, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31)),
}
