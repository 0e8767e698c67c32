"""Rules of data contracts, as far as kcli heeds them: what is encrypted, and what may not be written."""
