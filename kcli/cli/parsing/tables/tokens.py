"""The commands of `kcli tokens`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='owners', flags=('--owner',), multiple=True, metavar='PRINCIPAL', help='Only tokens of this principal: User:bob, or bob. Repeatable.', also=('--owner-principal',))
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
_23 = Option(name='owner', flags=('--owner',), metavar='PRINCIPAL', help='Owner of the token (default: yourself). Needs an ACL: create-tokens on that user.', also=('--owner-principal',))
_24 = Option(name='renewers', flags=('--renewer',), multiple=True, metavar='PRINCIPAL', help='Principals that may renew and expire it, beside the owner. Repeatable.', also=('--renewer-principal',))
_25 = Option(name='lifetime', flags=('--max-lifetime',), metavar='DURATION', help="Maximum lifetime, such as 12h or 7d (default and limit: the broker's).")
_26 = Option(name='hmac_file', flags=('--hmac-file',), metavar='FILE', help='Write the HMAC to this new file instead of printing it.')
_27 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show the plan.')
_28 = Option(name='applied', flags=('--execute', '-y', '--yes'), kind='flag', help='Apply the plan, which is the default.', hidden=True)
_29 = Option(name='period', flags=('--for',), metavar='DURATION', help="New lifetime from now, such as 12h or 7d (default: the broker's).")
_30 = Option(name='execute', flags=('--execute', '-y', '--yes'), kind='flag', help='Apply the plan, which is the default.', hidden=True)
_31 = Option(name='period', flags=('--in',), metavar='DURATION', help='Expire after this duration (default: now).')
_32 = Option(name='if_exists', flags=('--if-exists',), kind='flag', help='Do not fail if it does not exist.')
_33 = Option(name='execute', flags=('--execute',), kind='flag', help='Apply the plan. Without it the plan is only shown (and confirmed on a terminal).', panel='Plan')
_34 = Option(name='yes', flags=('-y', '--yes'), kind='flag', help='Answer the question on a terminal with yes.', panel='Plan')
_35 = Option(name='expect', flags=('--expect',), kind='int', metavar='N', help='Apply a plan by a pattern only if N names match.', least=1, panel='Plan')
_36 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show the plan.', panel='Plan')

COMMANDS = {
    'list': Command(name='list', run='kcli.cli.commands.tokens.list:list_all', help='List the delegation tokens that you may describe.', description='Print delegation tokens, the next to expire first. Secrets are not printed.\n\n\x08\nExamples:\n  kcli tokens\n  kcli tokens list --owner bob -J', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22)),
    'create': Command(name='create', run='kcli.cli.commands.tokens.create:create', help='Create a delegation token; its secret is printed only now.', description='Create a delegation token: its id is a user name, its HMAC the password, for SCRAM with\nsasl.delegation.token=true. The HMAC is printed only now, or written to a file that only you can read. Brokers\nrequire SASL or TLS for this.\n\n\x08\nExamples:\n  kcli tokens create\n  kcli tokens create --renewer alice --max-lifetime 1d --hmac-file token.txt\n  kcli tokens create --owner bob --format json', options=(_23, _24, _25, _26, _27, _28, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22)),
    'renew': Command(name='renew', run='kcli.cli.commands.tokens.renew:renew', help='Renew tokens.', description='Renew delegation tokens by their ids: they expire later, but not after their maximum lifetime.\n\n\x08\nExamples:\n  kcli tokens renew nWPnUkAORGOvZcXJRbRTmQ\n  kcli tokens renew nWPnUkAORGOvZcXJRbRTmQ --for 2d', words='TOKEN', options=(_29, _27, _30, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22)),
    'expire': Command(name='expire', run='kcli.cli.commands.tokens.expire:expire', help='Expire tokens now or after a delay.', description='Expire delegation tokens by their ids. The plan comes first; --execute applies it. An expired token cannot be\nrestored.\n\n\x08\nExamples:\n  kcli tokens expire nWPnUkAORGOvZcXJRbRTmQ --execute\n  kcli tokens expire nWPnUkAORGOvZcXJRbRTmQ --in 5m --execute', words='TOKEN', options=(_31, _32, _33, _34, _35, _36, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22)),
}
