"""Records as lines, templates and JSON envelopes."""
