"""The extra `rules`: rules of data contracts in CEL, run by cel-python. Nothing imports it where that is missing."""
