"""Settings that every test shares."""

from hypothesis import settings

# Examples are not timed: a deadline fails on a busy machine and says nothing of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
