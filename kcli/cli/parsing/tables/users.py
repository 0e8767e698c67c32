"""The commands of `kcli users`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='columns', flags=('--columns',), metavar='COLUMN,…', help='Print only these columns, in this order.', panel='Output', folded=True)
_1 = Option(name='sort', flags=('--sort',), metavar='COLUMN', help='Sort by a column: amounts and times from the largest, others from the least. COLUMN:asc or :desc.', panel='Output', folded=True)
_2 = Option(name='top', flags=('--top',), kind='int', metavar='N', help='Print only the first N rows.', least=1, panel='Output', folded=True)
_3 = Option(name='watch', flags=('-w', '--watch'), kind='flag', help='Refresh until Ctrl-C; on a terminal in place.', panel='Watch', folded=True)
_4 = Option(name='interval', flags=('--interval',), metavar='DURATION', help='Refresh interval of --watch (default 5s).', panel='Watch', folded=True)
_5 = Option(name='refreshes', flags=('--refreshes',), kind='int', metavar='N', help='Stop after N refreshes of --watch.', least=1, panel='Watch', folded=True)
_6 = Option(name='format', flags=('--format',), help='table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'), panel='Output')
_7 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.', panel='Output')
_8 = Option(name='wide', flags=('--wide',), kind='flag', help='Show all columns, uncut, with exact numbers, on a terminal too.', panel='Output', folded=True)
_9 = Option(name='no_headers', flags=('--no-headers',), kind='flag', help='Print no titles in tables, CSV and TSV.', panel='Output', folded=True)
_10 = Option(name='local', flags=('--local',), kind='flag', help="Print times in this machine's zone, with its offset (default: UTC).", panel='Output', folded=True)
_11 = Option(name='utc', flags=('--utc',), kind='flag', help='Read times without a zone as UTC (default: as local).', panel='Output', folded=True)
_12 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_13 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_14 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_15 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_16 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_17 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_18 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_19 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_20 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_21 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)
_22 = Option(name='mechanisms', flags=('--mechanism',), multiple=True, metavar='MECHANISM', help='Only for this mechanism. Repeatable.')
_23 = Option(name='iterations', flags=('--iterations',), kind='int', metavar='N', help='Rounds of hashing, 4096 to 16384 (default 8192).', least=4096)
_24 = Option(name='password_file', flags=('--password-file',), metavar='FILE', help='Read the password from a file; - is stdin.')
_25 = Option(name='password_command', flags=('--password-command',), metavar='COMMAND', help="Read the password from a command's output, such as 'pass show kafka/bob'.")
_26 = Option(name='password_env', flags=('--password-env',), metavar='VARIABLE', help='Read the password from a variable.')
_27 = Option(name='execute', flags=('--execute',), kind='flag', help='Apply the plan. Without it the plan is only shown (and confirmed on a terminal).', panel='Plan')
_28 = Option(name='yes', flags=('-y', '--yes'), kind='flag', help='Answer the question on a terminal with yes.', panel='Plan')
_29 = Option(name='expect', flags=('--expect',), kind='int', metavar='N', help='Apply a plan by a pattern only if N names match.', least=1, panel='Plan')
_30 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show the plan.', panel='Plan')
_31 = Option(name='mechanisms', flags=('--mechanism',), multiple=True, metavar='MECHANISM', help='Only this mechanism. Repeatable.')
_32 = Option(name='if_exists', flags=('--if-exists',), kind='flag', help='Do not fail if it does not exist.')

COMMANDS = {
    'list': Command(name='list', run='kcli.cli.commands.users.list:list_all', help='List SCRAM users and their mechanisms.', description='Print the users that have SCRAM credentials. Brokers never reveal passwords.\n\n\x08\nExamples:\n  kcli users\n  kcli users list --format csv', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21)),
    'describe': Command(name='describe', run='kcli.cli.commands.users.describe:describe', help='Show the credentials of users.', description='Print the SCRAM credentials of users: mechanism and iterations. Exit code 1 if one has none.\n\n\x08\nExamples:\n  kcli users describe bob\n  kcli users describe bob alice -J', words='USER', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21)),
    'set': Command(name='set', run='kcli.cli.commands.users.set:set_password', help="Set a user's password; creates the user.", description="Set a user's password, for the mechanisms that the user has, or for both if it is a new one. It is asked for on\nthe terminal, without echo, or read from one of the places below; never from the command line. What is sent is\nsalted and hashed here, which is still as good as the password: use TLS. The plan comes first; --execute applies it.\nThere is no undo: no broker tells the password there was.\n\n\x08\nExamples:\n  kcli users set bob --execute\n  kcli users set bob --password-file bob.txt --execute\n  pwgen 32 1 | kcli users set bob --password-file - --execute\n  kcli users set bob --password-command 'pass show kafka/bob' --mechanism SCRAM-SHA-512 --execute", words='USER', options=(_22, _23, _24, _25, _26, _27, _28, _29, _30, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21)),
    'delete': Command(name='delete', run='kcli.cli.commands.users.delete:delete', help='Delete users, or one of their mechanisms.', description='Delete SCRAM credentials: the user can no longer log in with them. Open connections and ACLs stay.\nThe plan comes first; --execute applies it.\n\n\x08\nExamples:\n  kcli users delete bob --dry-run\n  kcli users delete bob alice --execute\n  kcli users delete bob --mechanism SCRAM-SHA-256 --execute', words='USER', options=(_31, _32, _27, _28, _29, _30, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21)),
}
