"""How often the cluster is asked, and that neither keys nor the end wait for it or for the terminal."""
