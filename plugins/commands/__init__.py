"""The commands of `longbox`, one module each: `help`, `configure(parser)`, `run(args) -> exit code`.

What several of them need stands in common.py (options, database, printing), story.py (events as lines,
causes), lines.py (people at the keyboard) and progress.py.
"""
