"""Changes to a cluster: what they would do, the rule by which they are confirmed, and the journal that undoes them."""
