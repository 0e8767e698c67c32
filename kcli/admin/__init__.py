"""Administration: queries and changes of topics, groups and so on, with plain rows as results. Nothing here prints."""
