"""`kcli config import`: the files of other tools."""
