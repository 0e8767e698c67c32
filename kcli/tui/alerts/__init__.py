"""Alerts: changes of status, told outside of the screen; groups that are acknowledged or muted."""
