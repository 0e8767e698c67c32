"""How much of a batch the driver merges at once: it stays below 2 GB."""

MOST_ROWS = 1_000_000
MOST_BYTES = 512 << 20
"""Of columns before compression: the library makes more of it while it merges."""
USUAL_ROWS, USUAL_BYTES = 500_000, 256 << 20
"""What a batch of a stream takes unless the line says otherwise."""
