"""The dashboard: screens over the same client, rows and lag engine that the commands use.

Data and drawing run at their own pace: the session works on a loop of its own in a thread and posts messages; a
screen draws the newest state and asks the session for more. Screens know nothing of Kafka but `session.py`.
"""
