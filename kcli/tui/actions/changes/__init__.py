"""What the change dialog can do, without the dialog: a plan, the change, and the command that does the same."""
