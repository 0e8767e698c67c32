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
            raise UsageError(f"{self.pattern.patterns[0]}: a share group needs names of topics, not a pattern")
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
            raise UsageError("--share-ack release gives records back when the command stops: add -n, -e or --timeout")

    @property
    def bounded(self) -> bool:
        return self.limit >= 0 or self.to_end


def _refuse(options: ConsumeOptions) -> None:
    """Raises UsageError for what does not go with --share-group."""
    reasons = (
        (options.group, "--group and --share-group cannot be combined"),
        (options.partitions, "-p cannot be combined with --share-group, which reads all partitions"),
        (
            options.offset,
            "-o cannot be combined with --share-group: a share group tracks each record and has no start offset",
        ),
        (options.order, "--order cannot be combined with --share-group, which delivers records to any member"),
        (
            options.newest_first,
            "--newest-first cannot be combined with --share-group, which delivers records in its own order",
        ),
        (
            options.control,
            "--print-control-records cannot be combined with --share-group, which has no control records",
        ),
        (
            options.isolation,
            "--isolation cannot be combined with --share-group: it is a config of the group (share.isolation.level)",
        ),
    )
    for given, reason in reasons:
        if given not in (None, False, []):
            raise UsageError(reason)
    if has_times(options, options):
        raise UsageError("a share group reads its unread records, not a time range; use --where, or no group")
