"""Transactions, their producers, and transactions that hang."""
