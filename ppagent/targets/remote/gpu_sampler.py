"""Sent to a Python that may have nvidia-ml-py on its standard input, run there with -I -B: samples the cards.

Arguments: seconds, seconds between samples, a mark. What a card does not support is an empty cell; a card that is lost
says so in its row. It must run on Python 3.8.
"""

from __future__ import annotations

import datetime
import site
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

try:
    if Path(site.getusersitepackages()).is_dir():
        sys.path.append(site.getusersitepackages())
    import pynvml as nvml  # type: ignore[import-not-found,import-untyped,unused-ignore]
except ImportError:
    sys.exit(f"nvidia-ml-py is not installed for {sys.executable}")

LOST = "[GPU is lost]"


def call(name: str, *arguments: Any) -> Any:
    """What a function of the library says; empty where the card or the driver does not support it."""
    try:
        return getattr(nvml, name)(*arguments)
    except nvml.NVMLError as error:
        return LOST if error.value == nvml.NVML_ERROR_GPU_IS_LOST else ""


def part(value: Any, of: Callable[[Any], Any]) -> Any:
    return value if isinstance(value, str) else of(value)


def watts(value: Any) -> Any:
    return part(value, lambda milliwatts: f"{milliwatts / 1000:.2f}")


def mebibytes(value: int) -> int:
    return value // (1 << 20)


def text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def reasons(card: Any) -> Any:
    """By their newer name, else by the older one."""
    value = call("nvmlDeviceGetCurrentClocksEventReasons", card)
    if value == "":
        value = call("nvmlDeviceGetCurrentClocksThrottleReasons", card)
    return part(value, lambda bits: f"0x{bits:016x}")


COLUMNS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("name", lambda c: text(call("nvmlDeviceGetName", c))),
    ("pci.bus_id", lambda c: part(call("nvmlDeviceGetPciInfo", c), lambda info: text(info.busId))),
    ("utilization.gpu", lambda c: part(call("nvmlDeviceGetUtilizationRates", c), lambda rates: rates.gpu)),
    ("power.draw", lambda c: watts(call("nvmlDeviceGetPowerUsage", c))),
    ("power.limit", lambda c: watts(call("nvmlDeviceGetPowerManagementLimit", c))),
    ("enforced.power.limit", lambda c: watts(call("nvmlDeviceGetEnforcedPowerLimit", c))),
    ("power.default_limit", lambda c: watts(call("nvmlDeviceGetPowerManagementDefaultLimit", c))),
    ("memory.used", lambda c: part(call("nvmlDeviceGetMemoryInfo", c), lambda memory: mebibytes(memory.used))),
    ("memory.total", lambda c: part(call("nvmlDeviceGetMemoryInfo", c), lambda memory: mebibytes(memory.total))),
    ("clocks.sm", lambda c: call("nvmlDeviceGetClockInfo", c, nvml.NVML_CLOCK_SM)),
    ("clocks.max.sm", lambda c: call("nvmlDeviceGetMaxClockInfo", c, nvml.NVML_CLOCK_SM)),
    ("temperature.gpu", lambda c: call("nvmlDeviceGetTemperature", c, nvml.NVML_TEMPERATURE_GPU)),
    ("pcie.link.gen.current", lambda c: call("nvmlDeviceGetCurrPcieLinkGeneration", c)),
    ("pcie.link.gen.max", lambda c: call("nvmlDeviceGetMaxPcieLinkGeneration", c)),
    ("pcie.link.width.current", lambda c: call("nvmlDeviceGetCurrPcieLinkWidth", c)),
    ("pcie.link.width.max", lambda c: call("nvmlDeviceGetMaxPcieLinkWidth", c)),
    ("clocks_event_reasons.active", reasons),
)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def processes(cards: list[Any]) -> None:
    for index, card in enumerate(cards):
        running = LOST if card == LOST else call("nvmlDeviceGetComputeRunningProcesses", card)
        for each in () if isinstance(running, str) else running:
            held = "" if each.usedGpuMemory is None else mebibytes(each.usedGpuMemory)
            say(f"{index},{each.pid},{held}")


def sample(cards: list[Any]) -> None:
    for index, card in enumerate(cards):
        now = datetime.datetime.now().astimezone().isoformat(timespec="milliseconds")
        cells = [LOST for _ in COLUMNS] if card == LOST else [str(of(card)).replace(",", " ") for _, of in COLUMNS]
        say(",".join((now, str(index), *cells)))


def main() -> None:
    window_s, step_s, mark = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        sys.exit(f"NVML: {error}")
    cards = [call("nvmlDeviceGetHandleByIndex", index) for index in range(nvml.nvmlDeviceGetCount())]
    say(f"{mark} driver")
    say(f"{text(call('nvmlSystemGetDriverVersion'))},{call('nvmlSystemGetCudaDriverVersion')}")
    say(f"{mark} processes")
    processes(cards)
    say(f"{mark} samples")
    say(",".join(("timestamp", "index", *(name for name, _ in COLUMNS))))
    until = time.monotonic() + window_s
    while True:
        sample(cards)
        if time.monotonic() + step_s > until:
            break
        time.sleep(step_s)


if __name__ == "__main__":
    main()
