"""Transactions, their producers, and hanging transactions."""
