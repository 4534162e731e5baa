# ruff: noqa
class Detector:
    Known = {"qwen3": Unwritten, "kimi": Unwritten}
