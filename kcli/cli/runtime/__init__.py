"""Around a command: settings, the event loop, signals, questions, the journal."""
