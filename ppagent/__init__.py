"""ppagent: finds out why a pipeline-parallel SGLang server is slow, proves it, and says what to relaunch with."""

__version__ = "0.1.0"
