"""What keys and dialogs do, without the screens."""
