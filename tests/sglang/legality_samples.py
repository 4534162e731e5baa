"""Short ways to put a launch command before a version."""

from pathlib import Path

from ppagent.sglang.flags.history import catalogue_of
from ppagent.sglang.launch.command import parse_launch
from ppagent.sglang.legality.check import check
from ppagent.sglang.legality.problem import Problem


def problems(
    arguments: str,
    version: str,
    *,
    env: str = "",
    tree: Path | None = None,
    architectures: tuple[str, ...] = (),
    layers: int | None = None,
    gpu: str | None = None,
) -> tuple[Problem, ...]:
    """What is wrong with these arguments; the model and the switch that every pipeline wants are added."""
    text = f"{env} python -m sglang.launch_server --model-path m --disable-overlap-schedule {arguments}"
    catalogue = catalogue_of(version)
    return check(parse_launch(text, catalogue), version, catalogue, tree, architectures, layers, gpu)


def refused(arguments: str, version: str, **known: object) -> list[str]:
    """The flags that are refused."""
    found = problems(arguments, version, **known)  # type: ignore[arg-type]
    return [problem.flag for problem in found if problem.kind == "refused"]


def write_tree(root: Path, **files: str) -> Path:
    """A source tree of a few files: `srt__server_args="..."` is srt/server_args.py."""
    for name, text in files.items():
        path = root / "sglang" / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root
