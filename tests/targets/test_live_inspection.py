"""What is installed for a server, asked of its own Python."""

import json
import os
import sys
import venv
from pathlib import Path

import pytest

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote.inspection import Inspection, inspect_server, no_package
from ppagent.targets.remote.link import Link
from ppagent.targets.remote.local_link import LocalLink
from ppagent.targets.remote.processes import Process
from ppagent.targets.remote.servers import Server
from tests.fixtures.fake_server import PACKAGE


def server(*words: str, python: str = sys.executable, cwd: str = "/", **more: object) -> Server:
    cmdline = (python, "-m", "sglang.launch_server", *words)
    launcher = Process(10, 1, cmdline, cwd=cwd, **{"env": {"PYTHONPATH": str(PACKAGE)}, **more})
    return Server(launcher, (), 30000, "127.0.0.1")


def write_config(folder: Path, name: str = "m") -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"model_type": name}))
    return folder / "config.json"


def model_type(found: Inspection) -> object:
    return json.loads(found.config())["model_type"]


def test_the_package_is_found_and_never_imported(link: Link, tmp_path: Path) -> None:
    trap = tmp_path / "sglang"
    trap.mkdir()
    (trap / "__init__.py").write_text("raise SystemExit('it was imported')\n")
    (trap / "version.py").write_text('__version__ = "9.9.9"\n')
    found = inspect_server(link, server(cwd=str(tmp_path)), "me")
    assert (found.package, found.version) == (str(trap), "9.9.9")
    assert found.packages["pydantic"]
    assert not list(tmp_path.rglob("*.pyc"))


def test_a_virtual_environment_has_its_own_package(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False)
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (site / "sglang").mkdir()
    (site / "sglang" / "__init__.py").touch()
    (site / "sglang" / "_version.py").write_text("TYPE_CHECKING = False\n__version__ = version = '0.5.23'\n")
    (site / "torch").mkdir()
    (site / "torch" / "version.py").write_text("__version__ = '2.9.1+cu128'\ncuda: Optional[str] = '12.8'\n")
    (site / "sgl_kernel-0.3.1.dist-info").mkdir()
    (site / "sgl_kernel-0.3.1.dist-info" / "METADATA").write_text("Name: sgl-kernel\nVersion: 0.3.1\n")
    found = inspect_server(LocalLink(), server(python=str(tmp_path / "venv" / "bin" / "python"), env={}), "me")
    assert (found.package, found.version, found.torch_cuda) == (str(site / "sglang"), "0.5.23", "12.8")
    assert found.packages == {"sgl-kernel": "0.3.1"}
    by_path = server(python="python", env={"PATH": str(tmp_path / "venv" / "bin")})
    assert inspect_server(LocalLink(), by_path, "me").version == "0.5.23"


def test_without_a_package_nothing_is_made_up() -> None:
    found = inspect_server(LocalLink(), server(env={}), "me")
    assert (found.package, found.version) == ("", "")


def test_a_models_config_is_found_in_its_folder_and_in_the_hubs_cache(tmp_path: Path) -> None:
    write_config(tmp_path / "local", "from its folder")
    assert (
        model_type(inspect_server(LocalLink(), server("--model-path", str(tmp_path / "local")), "me"))
        == "from its folder"
    )
    relative = server("--model", "local", cwd=str(tmp_path))
    assert model_type(inspect_server(LocalLink(), relative, "me")) == "from its folder"

    hub = tmp_path / "home" / ".cache" / "huggingface" / "hub" / "models--org--kimi"
    write_config(hub / "snapshots" / "abc", "main")
    write_config(hub / "snapshots" / "v2", "second")
    (hub / "refs").mkdir()
    (hub / "refs" / "main").write_text("abc")
    cached = {"HOME": str(tmp_path / "home")}
    assert model_type(inspect_server(LocalLink(), server("--model-path", "org/kimi", env=cached), "me")) == "main"
    revised = server("--model-path=org/kimi", "--revision", "v2", env={"HF_HUB_CACHE": str(hub.parent)})
    assert model_type(inspect_server(LocalLink(), revised, "me")) == "second"
    nowhere = inspect_server(LocalLink(), server("--model-path", "org/other", env=cached), "me")
    with pytest.raises(NotRecorded, match="config.json was not found .*models--org--other"):
        nowhere.config()


def test_code_beside_the_server_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('it was run')\n")
    (tmp_path / "json.py").write_text("raise SystemExit('it was run')\n")
    found = inspect_server(LocalLink(), server(cwd=str(tmp_path), env={"PYTHONPATH": f"{tmp_path}:{PACKAGE}"}), "me")
    assert found.version == "0.5.10"


def test_a_python_that_cannot_be_run_is_said_with_what_would_help() -> None:
    with pytest.raises(
        ToolError, match=r"\(/no/python in the host\) cannot be run by me: .*; log in as sgl, who runs it"
    ):
        inspect_server(LocalLink(), server(python="/no/python", user="sgl"), "me")


def test_a_container_is_asked_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "docker"
    program.write_text(f'#!/bin/sh\n[ "$1 $2 $3" = "exec -i {"ab" * 32}" ] || exit 9\nshift 3\nexec "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    inside = server(groups=f"0::/system.slice/docker-{'ab' * 32}.scope")
    assert inspect_server(LocalLink(), inside, "me").version == "0.5.10"
    other = server(groups=f"0::/system.slice/docker-{'cd' * 32}.scope")
    with pytest.raises(ToolError, match="in container cdcdcdcdcdcd.*sudo docker exec cdcdcdcdcdcd"):
        inspect_server(LocalLink(), other, "me")


def test_what_may_not_be_read_is_not_said_to_be_missing() -> None:
    theirs = server(env={}, cwd="", env_read=False, user="sgl")
    assert str(no_package(theirs, "joe")) == (
        f"sglang is not among what {sys.executable} has installed, and where else process 10 (of sgl) takes it from, "
        "its PYTHONPATH and its folder, may not be read by joe; log in as sgl"
    )
    assert not isinstance(no_package(theirs, "joe"), NotRecorded)
    seen = no_package(server(env_read=True), "sgl")
    assert isinstance(seen, NotRecorded)
    assert "is not installed for the Python of process 10" in str(seen)
