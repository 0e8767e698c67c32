"""What the fast parser reads. Made by `make tables`; do not edit."""
