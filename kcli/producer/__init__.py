"""The producer: collects records into batches and sends them to leaders in order; each record gets exactly one
outcome."""
