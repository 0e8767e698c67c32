"""Replicas on the disks of brokers."""
