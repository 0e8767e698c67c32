"""The commands of `kcli quotas`. Made by `make tables`; do not edit."""

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
_22 = Option(name='any', flags=('--any',), multiple=True, metavar='user|client-id|ip', help='Entities that name any user, client-id or ip. Repeatable.')
_23 = Option(name='strict', flags=('--strict', '--exact'), kind='flag', help='Only entities without further parts: for --user alice, not alice with a client-id.')
_24 = Option(name='user', flags=('--user',), metavar='USER', help='For this user, as the broker names the principal.')
_25 = Option(name='user_default', flags=('--user-default',), kind='flag', help='For all users without their own quota.')
_26 = Option(name='client', flags=('--client-id', '--client'), metavar='CLIENT', help='For this client.id.')
_27 = Option(name='client_default', flags=('--client-id-default', '--client-default'), kind='flag', help='For all client ids without their own quota.')
_28 = Option(name='ip', flags=('--ip',), metavar='ADDRESS', help='For connections from this address.')
_29 = Option(name='ip_default', flags=('--ip-default',), kind='flag', help='For all addresses without their own quota.')
_30 = Option(name='remove', flags=('--delete', '--remove'), multiple=True, metavar='QUOTA', help='Remove this quota. Repeatable.')
_31 = Option(name='undo_file', flags=('--undo-file',), metavar='FILE', help='Also write the previous state to this file, for `kcli undo FILE`.', panel='Plan')
_32 = Option(name='no_undo', flags=('--no-undo',), kind='flag', help='Keep nothing to undo the change with.', panel='Plan')
_33 = Option(name='execute', flags=('--execute',), kind='flag', help='Apply the plan. Without it the plan is only shown (and confirmed on a terminal).', panel='Plan')
_34 = Option(name='yes', flags=('-y', '--yes'), kind='flag', help='Answer the question on a terminal with yes.', panel='Plan')
_35 = Option(name='expect', flags=('--expect',), kind='int', metavar='N', help='Apply a plan by a pattern only if N names match.', least=1, panel='Plan')
_36 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show the plan.', panel='Plan')
_37 = Option(name='all', flags=('-a', '--all'), kind='flag', help='Also the entities without a quota.')

COMMANDS = {
    'list': Command(name='list', run='kcli.cli.commands.quotas.list:list_all', help='List all quotas.', description='Print all quotas that are set, by entity.\n\n\x08\nExamples:\n  kcli quotas\n  kcli quotas list -J | jq \'.quotas[] | select(.quota == "producer_byte_rate")\'', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21)),
    'describe': Command(name='describe', run='kcli.cli.commands.quotas.list:describe', help='Show quotas of a user, a client-id or an address.', description='Print the quotas of entities that have all named parts; --strict excludes entities with further parts.\n\n\x08\nExamples:\n  kcli quotas describe --user alice               # also those of alice with a client-id\n  kcli quotas describe --user alice --strict      # only those of alice alone\n  kcli quotas describe --user-default --any client-id\n  kcli quotas describe --any ip', options=(_22, _23, _24, _25, _26, _27, _28, _29, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21)),
    'alter': Command(name='alter', run='kcli.cli.commands.quotas.alter:alter', help='Set and remove quotas.', description="Set and remove quotas of one entity. The plan comes first, checked by the\ncontroller; --execute applies it. `kcli undo` restores the previous values.\n\nA QUOTA is producer_byte_rate or consumer_byte_rate (bytes a second at each broker, 10MiB),\nrequest_percentage (% of a broker's threads), controller_mutation_rate (topics and\npartitions created and deleted a second), or, of an ip, connection_creation_rate.\n\n\x08\nExamples:\n  kcli quotas alter --user alice producer_byte_rate=10MiB consumer_byte_rate=20MiB --execute\n  kcli quotas alter --user alice --client-id app request_percentage=50% --dry-run\n  kcli quotas alter --user-default controller_mutation_rate=5/s --execute\n  kcli quotas alter --client-id-default --delete consumer_byte_rate --execute\n  kcli quotas alter --ip 10.0.0.7 connection_creation_rate=20 --execute", words='QUOTA=VALUE', options=(_30, _24, _25, _26, _27, _28, _29, _31, _32, _33, _34, _35, _36, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21)),
    'resolve': Command(name='resolve', run='kcli.cli.commands.quotas.resolve:resolve', help='Explain which quota applies to a client.', description='Print for each quota the value in force for connections of a user with a client.id, the\nentity that sets it, and the values it overrides. Kafka takes the first of: the user with the client-id, the user\nwith the default client-id, the user, the default user with the client-id, the default user\nwith the default client-id, the default user, the client-id, the default client-id.\nOn a listener without authentication the user is ANONYMOUS.\n\n\x08\nExamples:\n  kcli quotas resolve --user alice --client-id app\n  kcli quotas resolve --client-id app                 # of ANONYMOUS\n  kcli quotas resolve --user alice --client-id app --ip 10.0.0.7 --all -J', options=(_24, _26, _28, _37, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21)),
}
