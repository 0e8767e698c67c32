"""All topics, one topic, and the tables of its page."""
