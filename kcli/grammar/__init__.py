"""Words of a command line or a file as values: offsets, durations, numbers with units."""
