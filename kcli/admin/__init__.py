"""Administration: questions about topics, groups and offsets, answered as plain rows. Nothing here prints."""
