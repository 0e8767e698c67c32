"""Connections to one broker: opened lane by lane, greeted, read and written in order, closed when idle."""
