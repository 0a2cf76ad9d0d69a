"""Run the benchmarks: `python tests/bench/run.py --help`. A peer that is not installed is left out."""

import importlib
import sys
from pathlib import Path


def main() -> int:
    """Put the folder above this package on the path, then hand over to cli.py."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    status: int = importlib.import_module("bench.cli").main()
    return status


if __name__ == "__main__":
    sys.exit(main())
