NAMES = ("qwen3", "kimi")
