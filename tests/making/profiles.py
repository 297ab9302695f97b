"""How many examples hypothesis draws: ``HYPOTHESIS_PROFILE`` names the profile, ``dev`` if it is not set.

``ci`` draws the same examples each time, so that a red run can be repeated. ``long`` is for comparing with
the model before a release: more than 20,000 drawn questions under both scorings. pytest says at its end
how many answers were compared; ``pytest tests/test_model.py -k every_question`` takes half an hour.
"""

import os

from hypothesis import HealthCheck, settings

# Examples write real directories, which can be slow on any machine.
SLOW_IS_FINE = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile("dev", deadline=None, max_examples=60, suppress_health_check=SLOW_IS_FINE)
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=200,
    derandomize=True,
    print_blob=True,
    database=None,
    suppress_health_check=SLOW_IS_FINE,
)
settings.register_profile(
    "long", deadline=None, max_examples=7000, print_blob=True, suppress_health_check=SLOW_IS_FINE
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))

FEWER = max(1, settings().max_examples // 3)
"""The number of examples for tests whose promise is less important, or whose examples are slow."""
