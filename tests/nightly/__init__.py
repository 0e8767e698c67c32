"""What is too long for each change: `python -m tests.nightly`."""
