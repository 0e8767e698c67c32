"""The planners of changes, the rule that confirms them, and the journal."""
