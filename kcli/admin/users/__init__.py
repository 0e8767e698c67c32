"""SCRAM users and delegation tokens."""
