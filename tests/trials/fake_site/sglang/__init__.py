"""Stands in for SGLang where a test needs a process to stop and start."""
