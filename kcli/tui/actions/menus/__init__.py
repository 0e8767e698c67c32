"""What `a` offers with a row, a module for each kind of row. A page says how a change is begun."""
