"""The program ``pmm``, which comes with the package."""

from __future__ import annotations

import sys

from ._pmm import run_program


def main() -> int:
    """Runs the program with the command line of this process."""
    return run_program(["pmm", *sys.argv[1:]])
