"""What Longbox is measured against: three games written by hand, and thin wrappers around the peers.

tictactoe.py, uno.py, leduc.py   the games by hand, with their events; `hand_written` enters them
rlcard_peer, pettingzoo_peer, chess_peer, eventsourcing_peer, sqlite_rows, python_compiler   one peer each

Everyone plays the same way: `random.choice` over the distinct legal actions, each game to its end. Peers are
imported when they are set up, so that a missing one is reported and the rest still run.
"""
