"""Writes recordings as SGLang servers of a given version would have left them, from a few physical figures.

Line forms follow the sources of the versions named; `sglang 0.5.10: scheduler_metrics_mixin.py` and its kin.
"""
