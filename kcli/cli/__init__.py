"""The command line. Nothing is imported here: a command pays only for what it runs."""

typed: list[str] = []
"""The words of the command line that is run, behind `kcli`: the journal of changes keeps them."""
