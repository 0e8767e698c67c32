"""From sealed batches to Produce requests, and from responses to outcomes: a sender per leader, retries, identity."""
