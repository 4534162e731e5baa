"""Profiler traces: streamed events -> what one rank did -> the stages of the pipeline. No target, no tool."""
