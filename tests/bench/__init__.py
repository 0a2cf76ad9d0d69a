"""Speed, measured as ratios in one run. Start with README.md; the command is run.py.

registry.py               what a section and a contender are
rounds.py                 interleaved rounds and their medians
report.py                 the table and the JSON
cli.py                    the options, and the list of who runs
longbox_contenders.py     Longbox
baselines/                hand-written games, and wrappers around the peers
"""
