"""GPUs: what a recording says about the card itself."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """One model of GPU. `arch` is the CUDA architecture; powers are board powers in W."""

    name: str
    arch: str
    memory_mib: int
    limit_w: float
    clock_max_mhz: int
    pcie_gen: int

    @property
    def memory_gib(self) -> float:
        return self.memory_mib / 1024


RTX_3090 = Card("NVIDIA GeForce RTX 3090", "sm86", 24576, 370, 2100, 4)
RTX_4090 = Card("NVIDIA GeForce RTX 4090", "sm89", 24564, 450, 3105, 4)
RTX_5090 = Card("NVIDIA GeForce RTX 5090", "sm120", 32607, 575, 3090, 5)
RTX_A6000 = Card("NVIDIA RTX A6000", "sm86", 49140, 300, 2100, 4)
L40 = Card("NVIDIA L40", "sm89", 46068, 300, 2490, 4)
L40S = Card("NVIDIA L40S", "sm89", 46068, 350, 2520, 4)
A100_40 = Card("NVIDIA A100-SXM4-40GB", "sm80", 40960, 400, 1410, 4)
A100_80 = Card("NVIDIA A100-SXM4-80GB", "sm80", 81920, 400, 1410, 4)
H100 = Card("NVIDIA H100 80GB HBM3", "sm90", 81559, 700, 1980, 5)
H200 = Card("NVIDIA H200", "sm90", 143771, 700, 1980, 5)
H20 = Card("NVIDIA H20", "sm90", 97871, 500, 1980, 5)
H20_3E = Card("NVIDIA H20-3e", "sm90", 143771, 500, 1980, 5)
GB200 = Card("NVIDIA GB200", "sm100", 189471, 1200, 2062, 6)
PRO_6000 = Card("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "sm120", 97887, 600, 2430, 5)
PRO_6000_SERVER = Card("NVIDIA RTX PRO 6000 Blackwell Server Edition", "sm120", 97887, 600, 2430, 5)
