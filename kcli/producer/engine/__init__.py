"""From sealed batches to Produce requests and from responses to outcomes: one sender per leader, retries, identity."""
