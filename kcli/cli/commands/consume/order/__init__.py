"""`kcli consume --order time`: records of partitions and topics, merged by time."""
