"""`kcli tui --web`: the dashboard in a browser on this machine (textual-serve)."""
