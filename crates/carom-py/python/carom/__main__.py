"""The command line: `python -m carom`, and the command `carom`."""

from __future__ import annotations

import signal
import sys

from . import _carom


def main() -> int:
    """Does what the command line says; returns the exit code."""
    # Ctrl-C is the program's own to answer.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _carom.run_program(["carom", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
