"""Schema registries: a client of their REST API, caches, and a folder of schemas that can replace one."""
