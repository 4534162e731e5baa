"""GPUs: what a recording says about the card itself."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """One model of GPU. `arch` is the CUDA architecture; powers are board powers in W."""

    name: str
    arch: str
    memory_mib: int
    idle_w: float
    limit_w: float
    clock_max_mhz: int
    pcie_gen: int
    nvlink: bool = False

    @property
    def memory_gib(self) -> float:
        return self.memory_mib / 1024


RTX_3090 = Card("NVIDIA GeForce RTX 3090", "sm86", 24576, 28, 370, 2100, 4)
RTX_4090 = Card("NVIDIA GeForce RTX 4090", "sm89", 24564, 22, 450, 3105, 4)
RTX_5090 = Card("NVIDIA GeForce RTX 5090", "sm120", 32607, 24, 575, 3090, 5)
RTX_A6000 = Card("NVIDIA RTX A6000", "sm86", 49140, 22, 300, 2100, 4)
L40 = Card("NVIDIA L40", "sm89", 46068, 35, 300, 2490, 4)
L40S = Card("NVIDIA L40S", "sm89", 46068, 36, 350, 2520, 4)
A100_40 = Card("NVIDIA A100-SXM4-40GB", "sm80", 40960, 52, 400, 1410, 4, nvlink=True)
A100_80 = Card("NVIDIA A100-SXM4-80GB", "sm80", 81920, 62, 400, 1410, 4, nvlink=True)
H100 = Card("NVIDIA H100 80GB HBM3", "sm90", 81559, 72, 700, 1980, 5, nvlink=True)
H200 = Card("NVIDIA H200", "sm90", 143771, 76, 700, 1980, 5, nvlink=True)
H20 = Card("NVIDIA H20", "sm90", 97871, 110, 500, 1980, 5, nvlink=True)
H20_3E = Card("NVIDIA H20-3e", "sm90", 143771, 112, 500, 1980, 5, nvlink=True)
GB200 = Card("NVIDIA GB200", "sm100", 189471, 170, 1200, 2062, 6, nvlink=True)
PRO_6000 = Card("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "sm120", 97887, 34, 600, 2430, 5)
PRO_6000_SERVER = Card("NVIDIA RTX PRO 6000 Blackwell Server Edition", "sm120", 97887, 34, 600, 2430, 5)
