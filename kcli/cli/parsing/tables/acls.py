"""The commands of `kcli acls`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='pattern', flags=('--pattern', '--resource-pattern-type'), help='Pattern type of the names (default: match, all ACLs that apply).', choices=('match', 'any', 'literal', 'prefixed'))
_1 = Option(name='principals', flags=('--principal',), multiple=True, metavar='PRINCIPAL', help='Principal: User:bob, bob or User:* (all users). Repeatable.')
_2 = Option(name='hosts', flags=('--host',), multiple=True, metavar='HOST', help='Client address; * matches ACLs for any host. Repeatable.')
_3 = Option(name='permission', flags=('--permission',), help='Only those that do this.', choices=('allow', 'deny'))
_4 = Option(name='topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC', help='A topic; * is all. Repeatable.')
_5 = Option(name='groups', flags=('-g', '--group'), multiple=True, metavar='GROUP', help='A group; * is all. Repeatable.')
_6 = Option(name='transactional_ids', flags=('--transactional-id',), multiple=True, metavar='NAME', help='A transactional id; * is all. Repeatable.')
_7 = Option(name='cluster', flags=('--cluster',), kind='flag', help='The cluster.')
_8 = Option(name='delegation_tokens', flags=('--delegation-token',), multiple=True, metavar='NAME', help='A delegation token, by its id; * is all. Repeatable.')
_9 = Option(name='users', flags=('--user', '--user-principal'), multiple=True, metavar='PRINCIPAL', help='Owner of delegation tokens; * means all users. Repeatable.')
_10 = Option(name='operations', flags=('--operation',), multiple=True, metavar='OPERATION', help='read, write, create, delete, alter, describe, all, … Repeatable.')
_11 = Option(name='columns', flags=('--columns',), metavar='COLUMN,…', help='Print only these columns, in this order.', panel='Output', folded=True)
_12 = Option(name='sort', flags=('--sort',), metavar='COLUMN', help='Sort by a column: amounts and times from the largest, others from the least. COLUMN:asc or :desc.', panel='Output', folded=True)
_13 = Option(name='top', flags=('--top',), kind='int', metavar='N', help='Print only the first N rows.', least=1, panel='Output', folded=True)
_14 = Option(name='watch', flags=('-w', '--watch'), kind='flag', help='Refresh until Ctrl-C; on a terminal in place.', panel='Watch', folded=True)
_15 = Option(name='interval', flags=('--interval',), metavar='DURATION', help='Refresh interval of --watch (default 5s).', panel='Watch', folded=True)
_16 = Option(name='refreshes', flags=('--refreshes',), kind='int', metavar='N', help='Stop after N refreshes of --watch.', least=1, panel='Watch', folded=True)
_17 = Option(name='format', flags=('--format',), help='table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'), panel='Output')
_18 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.', panel='Output')
_19 = Option(name='wide', flags=('--wide',), kind='flag', help='Show all columns, uncut, with exact numbers, on a terminal too.', panel='Output', folded=True)
_20 = Option(name='no_headers', flags=('--no-headers',), kind='flag', help='Print no titles in tables, CSV and TSV.', panel='Output', folded=True)
_21 = Option(name='local', flags=('--local',), kind='flag', help="Print times in this machine's zone, with its offset (default: UTC).", panel='Output', folded=True)
_22 = Option(name='utc', flags=('--utc',), kind='flag', help='Read times without a zone as UTC (default: as local).', panel='Output', folded=True)
_23 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_24 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_25 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_26 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_27 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_28 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_29 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_30 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_31 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_32 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)
_33 = Option(name='allow', flags=('--allow', '--allow-principal'), multiple=True, metavar='PRINCIPAL', help='Allow a principal: User:bob, bob, User:*. Repeatable.')
_34 = Option(name='deny', flags=('--deny', '--deny-principal'), multiple=True, metavar='PRINCIPAL', help='Deny this principal. Repeatable.')
_35 = Option(name='allow_hosts', flags=('--allow-host',), multiple=True, metavar='HOST', help='Client address for --allow (default: *, any). Repeatable.')
_36 = Option(name='deny_hosts', flags=('--deny-host',), multiple=True, metavar='HOST', help='Client address for --deny (default: *, any). Repeatable.')
_37 = Option(name='pattern', flags=('--pattern', '--resource-pattern-type'), help='Pattern type of the names (default: literal).', choices=('literal', 'prefixed'))
_38 = Option(name='from_file', flags=('--from', '--from-file'), metavar='FILE', help='The ACLs of a file: of `kcli acls list -J`, or what an undo file says was removed; - is stdin.')
_39 = Option(name='producer', flags=('--producer',), kind='flag', help='What a producer needs: write, describe, create on --topic; write, describe on --transactional-id.')
_40 = Option(name='consumer', flags=('--consumer',), kind='flag', help='What a consumer needs: read, describe on --topic; read on --group.')
_41 = Option(name='idempotent', flags=('--idempotent',), kind='flag', help='With --producer: idempotent-write on the cluster, which brokers before 3.0 require.')
_42 = Option(name='undo_file', flags=('--undo-file',), metavar='FILE', help='Also write the previous state to this file, for `kcli undo FILE`.', panel='Plan')
_43 = Option(name='no_undo', flags=('--no-undo',), kind='flag', help='Keep nothing to undo the change with.', panel='Plan')
_44 = Option(name='execute', flags=('--execute',), kind='flag', help='Apply the plan. Without it the plan is only shown (and confirmed on a terminal).', panel='Plan')
_45 = Option(name='yes', flags=('-y', '--yes'), kind='flag', help='Answer the question on a terminal with yes.', panel='Plan')
_46 = Option(name='expect', flags=('--expect',), kind='int', metavar='N', help='Apply a plan by a pattern only if N names match.', least=1, panel='Plan')
_47 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show the plan.', panel='Plan')
_48 = Option(name='pattern', flags=('--pattern', '--resource-pattern-type'), help='Pattern type of the names (default: literal; without a name: any).', choices=('literal', 'prefixed', 'match', 'any'))
_49 = Option(name='all', flags=('--all',), kind='flag', help='All ACLs of the cluster; excludes all filters.')
_50 = Option(name='principal', flags=('--principal',), metavar='PRINCIPAL', help='Check this principal only; exit 3 if it is denied.')
_51 = Option(name='host', flags=('--host',), metavar='HOST', help='Client address (default: one that no ACL names).')

COMMANDS = {
    'list': Command(name='list', run='kcli.cli.commands.acls.list:list_all', help='List ACLs, all or those that match.', description='Print ACLs. With a resource, those that apply to it: wildcards and prefixes too (--pattern any, literal or\nprefixed compares the name with the name in the ACL).\n\n\x08\nExamples:\n  kcli acls\n  kcli acls list --topic orders\n  kcli acls list --principal bob --operation write\n  kcli acls list --topic orders- --pattern prefixed\n  kcli acls list -J > acls.json                 # `kcli acls add --from` reads it', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32)),
    'add': Command(name='add', run='kcli.cli.commands.acls.add:add', help='Allow or deny principals access to a resource.', description="Add ACLs: each principal, from each host, may do (or not do) each operation on each resource. Existing ACLs are\nmarked in the plan and not sent. The plan comes first; --execute applies it, and `kcli undo` removes\nthem again.\n\n\x08\nExamples:\n  kcli acls add write topic orders --allow bob --execute\n  kcli acls add --allow bob --operation read --topic orders --execute\n  kcli acls add --allow bob --producer --topic orders- --pattern prefixed --execute\n  kcli acls add --allow bob --consumer --topic orders --group billing --execute\n  kcli acls add --deny 'User:*' --deny-host 10.0.0.7 --operation all --topic orders --execute\n  kcli acls add --from acls.json --execute", words='[OPERATION RESOURCE NAME]', options=(_33, _34, _35, _36, _37, _38, _39, _40, _41, _4, _5, _6, _7, _8, _9, _10, _42, _43, _44, _45, _46, _47, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32)),
    'remove': Command(name='remove', run='kcli.cli.commands.acls.remove:remove', help='Remove ACLs that match.', description='Remove the ACLs that match all options. A name matches ACLs with exactly this name; with --pattern match also\nthose whose wildcard or prefix covers it. The plan is shown first; --execute removes exactly the ACLs of the plan\nand `kcli undo` adds them again.\n\n\x08\nExamples:\n  kcli acls remove --principal bob --topic orders --dry-run\n  kcli acls remove --principal bob --execute    # all that bob has\n  kcli acls remove --consumer --principal bob --topic orders --group billing --execute\n  kcli acls remove --topic orders --pattern match --permission deny --execute', options=(_48, _49, _1, _2, _3, _39, _40, _41, _4, _5, _6, _7, _8, _9, _10, _42, _43, _44, _45, _46, _47, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32)),
    'who-can': Command(name='who-can', run='kcli.cli.commands.acls.who_can:run', help='Show principals allowed to use a resource, and why.', description='Print the principals allowed to perform an OPERATION on a resource: literal, prefixed and wildcard\nACLs together, denials first. With --principal: whether that principal is allowed; exit code 3 if not.\n\n\x08\nA RESOURCE is topic, group, cluster, transactional-id, delegation-token or user.\n\n\x08\nExamples:\n  kcli acls who-can write topic orders\n  kcli acls who-can --operation write --topic orders   # as acls add has them\n  kcli acls who-can read group billing --principal bob\n  kcli acls who-can read topic orders --principal bob --host 10.0.0.7 && echo yes\n  kcli acls who-can create cluster', words='[OPERATION RESOURCE NAME]', options=(_50, _51, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32)),
}
