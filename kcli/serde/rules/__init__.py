"""The extra `rules`: CEL rules of data contracts, run by cel-python. Imported only if that is installed."""
