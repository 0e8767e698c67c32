"""Strategies of subjects on the command line: topic, record, topic-record and associated."""
