"""What the package is measured with: corpora, questions, rivals, and the run that writes the table."""

import sys
from pathlib import Path

# The model that the tests compare with is a rival here, and `tests` is no package.
_TESTS = str(Path(__file__).resolve().parent.parent / "tests")
if _TESTS not in sys.path:
    sys.path.append(_TESTS)
