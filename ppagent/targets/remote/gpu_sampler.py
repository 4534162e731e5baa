"""Sent to a Python that may have nvidia-ml-py on its standard input, run there with -I -B: samples the cards.

Arguments: seconds, seconds between samples, a mark. What a card does not support is an empty cell; a card that does not
answer any more says so in its row. It must run on Python 3.8, with bindings and drivers that lack the newer functions.
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

GONE = {
    nvml.NVML_ERROR_GPU_IS_LOST: "[GPU is lost]",
    getattr(nvml, "NVML_ERROR_RESET_REQUIRED", 16): "[GPU requires reset]",
}
"""What nvidia-smi writes for a card that no longer works."""
LISTS = ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetComputeRunningProcesses_v2")
"""The newest form of the list, which drivers before 510 lack, and the one of theirs."""
LACKING = (getattr(nvml, "NVMLLibraryMismatchError", nvml.NVMLError),)
"""Newer bindings raise this, which is no NVMLError, where the driver lacks the form of a function they use."""


def call(name: str, *arguments: Any) -> Any:
    """What a function of the library says; empty where the card, the driver or the binding does not support it."""
    function = getattr(nvml, name, None)
    if function is None:
        return ""
    try:
        return function(*arguments)
    except nvml.NVMLError as error:
        return GONE.get(error.value, "")
    except LACKING:
        return ""


def handle(index: int) -> Any:
    """A card to ask, or what the library says in its place: one that fell off the bus has none."""
    try:
        return nvml.nvmlDeviceGetHandleByIndex(index)
    except nvml.NVMLError as error:
        return GONE.get(error.value, f"[{error}]")


def part(value: Any, of: Callable[[Any], Any]) -> Any:
    return value if isinstance(value, str) else of(value)


def watts(value: Any) -> Any:
    return part(value, lambda milliwatts: f"{milliwatts / 1000:.2f}")


def mebibytes(value: int) -> int:
    return value // (1 << 20)


def text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def memory(card: Any) -> Any:
    """As nvidia-smi counts it: what the driver keeps for itself is not used, where the library tells the two apart."""
    version = getattr(nvml, "nvmlMemory_v2", None)
    found = "" if version is None else call("nvmlDeviceGetMemoryInfo", card, version)
    return call("nvmlDeviceGetMemoryInfo", card) if found == "" else found


def reasons(card: Any) -> Any:
    """By their newer name, else by the older one."""
    value = call("nvmlDeviceGetCurrentClocksEventReasons", card)
    if value == "":
        value = call("nvmlDeviceGetCurrentClocksThrottleReasons", card)
    return part(value, lambda bits: f"0x{bits:016x}")


COLUMNS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("name", lambda c: text(call("nvmlDeviceGetName", c))),
    ("uuid", lambda c: text(call("nvmlDeviceGetUUID", c))),
    ("pci.bus_id", lambda c: part(call("nvmlDeviceGetPciInfo", c), lambda info: text(info.busId))),
    ("utilization.gpu", lambda c: part(call("nvmlDeviceGetUtilizationRates", c), lambda rates: rates.gpu)),
    ("power.draw", lambda c: watts(call("nvmlDeviceGetPowerUsage", c))),
    ("power.limit", lambda c: watts(call("nvmlDeviceGetPowerManagementLimit", c))),
    ("enforced.power.limit", lambda c: watts(call("nvmlDeviceGetEnforcedPowerLimit", c))),
    ("power.default_limit", lambda c: watts(call("nvmlDeviceGetPowerManagementDefaultLimit", c))),
    ("memory.used", lambda c: part(memory(c), lambda found: mebibytes(found.used))),
    ("memory.total", lambda c: part(memory(c), lambda found: mebibytes(found.total))),
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


def running(card: Any) -> Any:
    """The processes on a card; text where no list of them can be had."""
    lists = (call(name, card) for name in LISTS)
    return card if isinstance(card, str) else next((found for found in lists if found != ""), "")


def processes(cards: list[Any]) -> None:
    """Index, process and MiB, one a line; the index alone where a card's list cannot be read."""
    for index, card in enumerate(cards):
        found = running(card)
        if isinstance(found, str):
            say(f"{index},,")
            continue
        for each in found:
            held = mebibytes(each.usedGpuMemory) if each.usedGpuMemory else ""
            say(f"{index},{each.pid},{held}")


def sample(cards: list[Any]) -> None:
    for index, card in enumerate(cards):
        now = datetime.datetime.now().astimezone().isoformat(timespec="milliseconds")
        cells = [card if isinstance(card, str) else str(of(card)) for _, of in COLUMNS]
        say(",".join((now, str(index), *(cell.replace(",", " ") for cell in cells))))


def main() -> None:
    window_s, step_s, mark = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    try:
        nvml.nvmlInit()
        cards = [handle(index) for index in range(nvml.nvmlDeviceGetCount())]
    except nvml.NVMLError as error:
        sys.exit(f"NVML: {error}")
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
