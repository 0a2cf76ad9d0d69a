"""The edge: hook specifications, the loader and the built-in plugins."""
