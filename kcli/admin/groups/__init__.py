"""Groups of every kind: list, describe and delete them, and change their committed offsets from outside."""
