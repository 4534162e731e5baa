"""Sent to the server's own Python on its standard input, run there with -I -B: says what is installed for it.

It must run on Python 3.8 and import nothing but the standard library; SGLang itself is found, never imported.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
import site
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

LARGEST = 4 << 20


def read(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(LARGEST)


def package(paths: list[str]) -> Path | None:
    """Where `import sglang` would find it, as `python -m sglang.launch_server` searches: without running it."""
    for extra in (paths, []):
        kept = list(sys.path)
        sys.path[:0] = extra
        try:
            spec = importlib.util.find_spec("sglang")
        except (ImportError, ValueError):
            spec = None
        finally:
            sys.path[:] = kept
        if spec is not None and spec.origin not in (None, "namespace"):
            return Path(str(spec.origin)).resolve().parent
    return None


def version(folder: Path, installed: dict[str, str]) -> str:
    for name in ("_version.py", "version.py"):
        with suppress(OSError):
            found = re.search(r"^(?:__version__|version)\b[^\"'\n]*[\"']([^\"'\n]+)[\"']", read(folder / name), re.M)
            if found:
                return found.group(1)
    return installed.get("sglang", "")


def packages(paths: list[str]) -> dict[str, str]:
    """Name and version of every distribution; of two with one name the first on the path, which is the one in use."""
    found: dict[str, str] = {}
    for folder in [*paths, *sys.path]:
        with suppress(OSError, ValueError):
            for each in importlib.metadata.distributions(path=[folder]):
                name = each.metadata["Name"] if each.metadata else None
                if name:
                    found.setdefault(name, each.version)
    return found


def model_config(asked: dict[str, Any]) -> dict[str, Any]:
    """The text of the model's config.json: in its folder, else in the cache of the hub."""
    model = asked["model"]
    if not model:
        return {"path": "", "text": "", "tried": []}
    places = [Path(asked["cwd"], model, "config.json")]
    caches = (asked["hub"], asked["hf_home"] and f"{asked['hf_home']}/hub",
              asked["cache"] and f"{asked['cache']}/huggingface/hub")  # fmt: skip
    for hub in filter(None, caches):
        folder = Path(hub, "models--" + model.strip("/").replace("/", "--"))
        revision = asked["revision"] or "main"
        with suppress(OSError):
            revision = read(folder / "refs" / revision).strip() or revision
        places.append(folder / "snapshots" / revision / "config.json")
    for place in places:
        with suppress(OSError):
            return {"path": str(place), "text": read(place)}
    return {"path": "", "text": "", "tried": [str(place) for place in places]}


def cuda_of_torch(paths: list[str]) -> str:
    """The CUDA version that torch was built for, as its version file states it."""
    for folder in [*paths, *sys.path]:
        with suppress(OSError):
            found = re.search(r"^cuda\b.*?=\s*[\"']([^\"']+)", read(Path(folder, "torch", "version.py")), re.M)
            return found.group(1) if found else ""
    return ""


def main() -> None:
    asked = json.loads(sys.argv[1])
    paths = [str(Path(asked["cwd"], path)) for path in asked["paths"]]
    if sys.prefix == sys.base_prefix and Path(site.getusersitepackages()).is_dir():
        sys.path.append(site.getusersitepackages())
    installed = packages(paths)
    folder = package(paths)
    answer = {
        "package": str(folder or ""),
        "version": version(folder, installed) if folder else "",
        "packages": installed,
        "torch_cuda": cuda_of_torch(paths),
        "model_config": model_config(asked),
    }
    sys.stdout.write(asked["mark"] + json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
