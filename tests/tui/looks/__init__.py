"""How the dashboard looks: names, plots, the head, what is wrong."""
