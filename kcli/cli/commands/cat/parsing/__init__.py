"""kcat's command line."""
