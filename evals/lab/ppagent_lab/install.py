"""Sets up a real SGLang without a GPU: one virtual environment a version, and a small model."""

import shutil
import subprocess
import sys
from pathlib import Path

from ppagent.errors import UserError

HERE = Path(__file__).resolve().parent.parent
BASE = "0.5.23"
"""The version whose environment holds torch and all that the others share."""
BASE_PACKAGES = ("sglang==0.5.23", "xgrammar==0.2.7")
TORCH = "torch==2.13.0"
LAYERS = 8
VERSIONS = tuple(sorted(path.stem for path in (HERE / "requirements").glob("*.txt")))


def python_of(lab: Path, version: str) -> Path:
    return lab / version / "bin" / "python"


def set_up(lab: Path, version: str = BASE, torch: str = TORCH) -> None:
    """Fills `lab/VERSION`, `lab/device` and `lab/models`. `torch` is what pip is asked for: a requirement or a wheel.

    Raises UserError for a version without requirements, or where a step fails.
    """
    if version not in VERSIONS:
        raise UserError(f"The lab has no requirements for SGLang {version}.", f"It has {', '.join(VERSIONS)}.")
    lab.mkdir(parents=True, exist_ok=True)
    shutil.copytree(HERE / "device", lab / "device", dirs_exist_ok=True)
    _base(lab, torch)
    if version != BASE:
        _overlay(lab, version)
    for layers in (LAYERS, 2 * LAYERS):
        model = lab / "models" / f"tiny{layers}"
        if not model.exists():
            _run([python_of(lab, BASE), lab / "device" / "make_model.py", model, str(layers)])


def _base(lab: Path, torch: str) -> None:
    if python_of(lab, BASE).exists():
        return
    _run([sys.executable, "-m", "venv", lab / BASE])
    pip: list[str | Path] = [python_of(lab, BASE), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    _run([*pip, torch])  # first and by itself, so that no other package pulls a CUDA build in
    _run([*pip, "-r", HERE / "requirements" / f"{BASE}.txt"])
    _run([*pip, "--no-deps", *BASE_PACKAGES])


def _overlay(lab: Path, version: str) -> None:
    """An environment of its own whose packages win over those of the base, which it sees behind them."""
    if python_of(lab, version).exists():
        return
    _run([sys.executable, "-m", "venv", lab / version])
    requirements = HERE / "requirements" / f"{version}.txt"
    pip: list[str | Path] = [
        python_of(lab, version),
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "--no-deps",
    ]
    _run([*pip, f"sglang=={version}", "-r", requirements])
    base, own = (next((lab / each / "lib").glob("python*/site-packages")) for each in (BASE, version))
    (own / "base.pth").write_text(f"{base}\n", encoding="utf-8")


def _run(command: list[str | Path]) -> None:
    words = [str(word) for word in command]
    print("+", " ".join(words), flush=True)
    done = subprocess.run(words, check=False)
    if done.returncode:
        raise UserError(f"{words[0]} ended with status {done.returncode}.", "See its output above.")
