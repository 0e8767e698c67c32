"""The commands of `kcli registry`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='deleted', flags=('--deleted',), kind='flag', help='Soft-deleted subjects too.')
_1 = Option(name='context', flags=('--context',), metavar='NAME', help='Subjects of this context; * is every context.')
_2 = Option(name='levels', flags=('--levels',), kind='flag', help='Print the level and the mode of each subject: two requests each.')
_3 = Option(name='unused', flags=('--unused',), kind='flag', help='Only subjects TOPIC-key and TOPIC-value of topics that the cluster does not have.')
_4 = Option(name='schema_registry', flags=('--schema-registry',), metavar='URL', help='The registry. Else schema.registry.url of the profile.')
_5 = Option(name='literal', flags=('--literal',), kind='flag', help="Read names as they are. Default: a glob ('orders-*') or '^RE' (from the start of the name) is a pattern.", panel='Names', folded=True)
_6 = Option(name='columns', flags=('--columns',), metavar='COLUMN,…', help='Print only these columns, in this order.', panel='Output', folded=True)
_7 = Option(name='sort', flags=('--sort',), metavar='COLUMN', help='Sort by a column: amounts and times from the largest, others from the least. COLUMN:asc or :desc.', panel='Output', folded=True)
_8 = Option(name='top', flags=('--top',), kind='int', metavar='N', help='Print only the first N rows.', least=1, panel='Output', folded=True)
_9 = Option(name='watch', flags=('-w', '--watch'), kind='flag', help='Refresh until Ctrl-C; on a terminal in place.', panel='Watch', folded=True)
_10 = Option(name='interval', flags=('--interval',), metavar='DURATION', help='Refresh interval of --watch (default 5s).', panel='Watch', folded=True)
_11 = Option(name='count', flags=('-n', '--count'), kind='int', metavar='N', help='Stop after N refreshes of --watch.', least=1, panel='Watch', folded=True)
_12 = Option(name='format', flags=('--format',), help='table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'), panel='Output')
_13 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.', panel='Output')
_14 = Option(name='wide', flags=('--wide',), kind='flag', help='Show all columns, uncut, with exact numbers, on a terminal too.', panel='Output', folded=True)
_15 = Option(name='no_headers', flags=('--no-headers',), kind='flag', help='Print no titles in tables, CSV and TSV.', panel='Output', folded=True)
_16 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_17 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_18 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_19 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_20 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_21 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_22 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_23 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_24 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_25 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)
_26 = Option(name='resolved', flags=('--resolved',), kind='flag', help='Put the types that an Avro schema refers to into its text.')
_27 = Option(name='references', flags=('--references',), kind='flag', help='Print the schemas that it refers to as well, before it.')
_28 = Option(name='deleted', flags=('--deleted',), kind='flag', help='Soft-deleted versions too.')
_29 = Option(name='type', flags=('--type',), metavar='TYPE', help='AVRO, PROTOBUF or JSON. Default: by the file: .proto, .json, else AVRO.')
_30 = Option(name='references', flags=('--reference',), multiple=True, metavar='NAME=SUBJECT@VERSION', help='What the schema imports. Repeatable.')
_31 = Option(name='normalize', flags=('--normalize',), kind='flag', help='Let the registry compare and keep the schema in its normal form.')
_32 = Option(name='id', flags=('--id',), kind='int', metavar='N', help="Register it under this id; the subject's mode must be IMPORT.", least=0)
_33 = Option(name='version', flags=('--version',), kind='int', metavar='N', help='With --id: under this version.', least=1)
_34 = Option(name='execute', flags=('--execute', '-y', '--yes'), kind='flag', help='Apply the plan. Without it the plan is only shown (and confirmed on a terminal).', panel='Plan')
_35 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show the plan.', panel='Plan')
_36 = Option(name='all_versions', flags=('--all-versions',), kind='flag', help='Compare with all versions, not with the latest one only.')
_37 = Option(name='level', flags=('--level',), metavar='LEVEL', help="Check Avro by this level, with kcli's own rules. The subject may be file:PATH, and then no registry is asked.")
_38 = Option(name='set', flags=('--set',), metavar='LEVEL', help='NONE, BACKWARD, FORWARD or FULL, each also with _TRANSITIVE.')
_39 = Option(name='delete', flags=('--delete',), kind='flag', help="Delete the subject's own level: it inherits the global one.")
_40 = Option(name='set', flags=('--set',), metavar='MODE', help='READWRITE, READONLY, READONLY_OVERRIDE or IMPORT.')
_41 = Option(name='delete', flags=('--delete',), kind='flag', help="Delete the subject's own mode: it inherits the global one.")
_42 = Option(name='force', flags=('--force',), kind='flag', help='Set IMPORT although there are schemas.')

COMMANDS = {
    'list': Command(name='list', run='kcli.cli.commands.registry.list:list_all', help='List subjects with their latest schema.', description="Print the subjects of a schema registry: the latest version, its type and its id. A SUBJECT is a name or a\npattern; without one, all subjects.\n\n\x08\nExamples:\n  kcli registry list\n  kcli registry list 'orders-*' --levels\n  kcli registry list --context staging -J\n  kcli registry list --unused                     # no topic of that name", words='SUBJECT', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25)),
    'describe': Command(name='describe', run='kcli.cli.commands.registry.describe:describe', help='Print a schema.', description='Print the text of a schema: the latest version of a subject, another one of it, or the schema of an id or a GUID.\nJSON is indented. -J has what the registry says of it besides.\n\n\x08\nExamples:\n  kcli registry describe orders-value > orders.avsc\n  kcli registry get orders-value@3\n  kcli registry get 17 --resolved\n  kcli registry get orders-value -J               # with its id, references and rules', words='SUBJECT[@VERSION]|ID|GUID', options=(_26, _27, _28, _4, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25)),
    'register': Command(name='register', run='kcli.cli.commands.registry.register:register', help='Register a schema under a subject.', description='Register the schema of a FILE (- is stdin) under a SUBJECT. The plan says whether the subject has it already, and\nwhether the registry finds it compatible; an incompatible one is refused, with the reasons. --execute registers it.\n\n\x08\nExamples:\n  kcli registry register orders-value orders.avsc\n  kcli registry register orders-value orders.avsc --execute\n  kcli registry register orders-value orders.proto --reference money.proto=money@2 --execute\n  jq .schema old.json -r | kcli registry register orders-value - --execute', words='SUBJECT FILE', options=(_29, _30, _31, _32, _33, _4, _34, _35, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25)),
    'check': Command(name='check', run='kcli.cli.commands.registry.check:check_schema', help="Check a schema's compatibility; exit 3 if it is incompatible.", description="Check whether the schema of a FILE may become the next version of a SUBJECT, by the subject's level in the\nregistry. Nothing is registered. Exit code 3 when it is incompatible, with the reasons.\n\nA LEVEL is NONE, BACKWARD, FORWARD or FULL, each also with _TRANSITIVE.\n\n\x08\nExamples:\n  kcli registry check orders-value orders.avsc\n  kcli registry check orders-value orders.avsc --all-versions\n  kcli registry check orders-value orders.avsc --level full-transitive\n  kcli registry check file:v1.avsc file:v2.avsc v3.avsc --level backward-transitive", words='SUBJECT FILE', options=(_29, _30, _36, _37, _4, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25)),
    'compat': Command(name='compat', run='kcli.cli.commands.registry.settings:compat', help='Show and set compatibility levels.', description='Print the compatibility level of a subject, or the global one; --set changes it, --delete lets the subject\ninherit the global one. The plan comes first, --execute applies it.\n\n\x08\nExamples:\n  kcli registry compat\n  kcli registry compat orders-value\n  kcli registry compat orders-value --set full --execute\n  kcli registry compat orders-value --delete --execute', words='SUBJECT', options=(_38, _39, _4, _34, _35, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25)),
    'mode': Command(name='mode', run='kcli.cli.commands.registry.settings:mode', help='Show and set modes: read-write, read-only, import.', description='Print the mode of a subject, or the global one; --set changes it, --delete lets the subject inherit the global\none. In IMPORT schemas are registered under ids that are given. The plan comes first, --execute applies it.\n\n\x08\nExamples:\n  kcli registry mode\n  kcli registry mode orders-value --set readonly --execute\n  kcli registry mode orders-value --delete --execute', words='SUBJECT', options=(_40, _41, _42, _4, _34, _35, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25)),
}
