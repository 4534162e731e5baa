"""NVIDIA compute capability by the name of a card, as `nvidia-smi` or a person writes it."""

import re

_BY_NAME = (
    (r"\b(?:GB10|DGX Spark)\b", 121),
    (r"\bRTX PRO \d{4}\b.*|\bRTX 50\d0\b|\b50[5-9]0\b", 120),
    (r"\b(?:GB300|B300)\b", 103),
    (r"\b(?:GB200|B200|B100)\b", 100),
    (r"\b(?:GH200|H200|H100|H800|H20|H100NVL)\b", 90),
    (r"\b(?:L4|L40|L40S|L20|RTX 40\d0|40[6-9]0)\b|\bRTX \d000 Ada\b", 89),
    (r"\b(?:A10|A10G|A16|A40|A2|RTX 30\d0|30[5-9]0|RTX A\d{4}|A[456]000)\b", 86),
    (r"\b(?:A100|A800|A30)\b", 80),
    (r"\b(?:T4|RTX 20\d0|20[678]0|Quadro RTX \d000)\b", 75),
    (r"\b(?:V100|V100S)\b", 70),
)


def compute_capability(gpu: str | None) -> int | None:
    """90 for an H100, 120 for an RTX PRO 6000; "SM120" and "12.0" are read too. None for a card that is not known."""
    if not gpu:
        return None
    said = re.search(r"\bsm_?(\d{2,3})a?\b", gpu, re.IGNORECASE) or re.fullmatch(r"\s*(\d{1,2}\.\d)\s*", gpu)
    if said:
        return int(said.group(1).replace(".", ""))
    name = re.sub(r"[-_]", " ", gpu)
    return next((capability for pattern, capability in _BY_NAME if re.search(pattern, name, re.IGNORECASE)), None)
