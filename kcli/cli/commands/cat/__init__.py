"""`kcli cat`: kcat's command lines."""
