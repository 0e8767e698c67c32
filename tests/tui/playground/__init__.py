"""`make playground`: a sandbox with thirty topics and a dozen groups of different fates, and the dashboard on it."""
