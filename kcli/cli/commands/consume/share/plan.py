"""What `kcli consume --share-group` is asked for."""

from __future__ import annotations

from kcli.cli.commands.consume.selection import Selection, has_times, named_topics
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.consume.plan import ConsumeOptions


class SharePlan(Selection):
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, options: ConsumeOptions, group: str) -> None:
        _refuse(options)
        super().__init__(
            options, "consume", named_topics(options), filters=options, schemas=options, literal=options.literal
        )
        self.print_decoded(options)
        if self.pattern is not None:
            raise UsageError(f"{self.pattern.patterns[0]}: a share group takes names of topics, and no pattern")
        self.options = options
        self.group = group
        self.kind: str = options.share_ack or "accept"
        self.from_beginning: bool = options.beginning
        self.limit: int = -1 if options.count is None else options.count
        self.to_end: bool = options.exit_at_end
        self.timeout = options.patience
        self.single: bool = options.unbuffered
        self.fail_if_none: bool = options.fail_if_none
        if self.kind == "release" and not self.bounded and self.timeout is None:
            raise UsageError("--share-ack release gives records back when it ends: say when, by -n, -e or --timeout")

    @property
    def bounded(self) -> bool:
        return self.limit >= 0 or self.to_end


def _refuse(options: ConsumeOptions) -> None:
    """Raises UsageError for what does not go with --share-group."""
    reasons = (
        (options.group, "--group and --share-group are two kinds of groups; take one"),
        (options.partitions, "--share-group gives out records of all partitions; -p does not go with it"),
        (
            options.offset,
            "a share group keeps the state of each record and has no offsets to start at; -o does not go with it",
        ),
        (options.order, "--order reads all partitions at once; a share group hands records to any member"),
        (options.newest_first, "a share group hands out records in its own order; --newest-first does not go with it"),
        (options.control, "a share group gives no control records; --print-control-records does not go with it"),
        (
            options.isolation,
            "isolation is a setting of the share group: kcli cannot choose it here (share.isolation.level)",
        ),
    )
    for given, reason in reasons:
        if given not in (None, False, []):
            raise UsageError(reason)
    if has_times(options, options):
        raise UsageError("a share group reads what it has not read, not a range of time; take --where, or no group")
