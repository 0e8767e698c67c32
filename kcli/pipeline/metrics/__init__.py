"""What a stream says of itself: a line for each batch, and a page for Prometheus."""
