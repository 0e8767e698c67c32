"""A group of KIP-848: its members, those that use the classic protocol included, and its assignors."""
