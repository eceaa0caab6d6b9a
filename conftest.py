"""What holds for all tests."""

from hypothesis import settings

# A busy machine is no counterexample: times are for benchmarks.
settings.register_profile("iostrata", deadline=None)
settings.load_profile("iostrata")
