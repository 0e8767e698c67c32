"""`kcli pipeline`: what runs on Spark."""
