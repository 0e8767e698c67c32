"""Around a command: settings, the event loop, signals, questions, undo files."""
