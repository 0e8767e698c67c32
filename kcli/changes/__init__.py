"""Changes to a cluster: plans, their confirmation, and the journal that can undo them."""
