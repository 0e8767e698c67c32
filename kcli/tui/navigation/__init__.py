"""How one goes from page to page: the trail of pages, and back and forward."""
