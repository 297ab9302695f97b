"""Benchmarks: corpora, questions, rivals, and the run that measures them and writes the table."""

import sys
from pathlib import Path

# A rival uses the plain-Python model of the tests, but `tests` is not a package that can be imported.
_TESTS = str(Path(__file__).resolve().parent.parent / "tests")
if _TESTS not in sys.path:
    sys.path.append(_TESTS)
