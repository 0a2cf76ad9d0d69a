"""The language: text to tree to checked program to Python functions, and the formatter."""
