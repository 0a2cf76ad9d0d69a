"""Texts that are broken on purpose are read by tests/dsl/test_broken.py, not collected as scenes."""

collect_ignore = ["broken"]
