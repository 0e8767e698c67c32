"""What makes a short-lived process start sooner."""
