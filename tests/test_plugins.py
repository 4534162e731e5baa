"""Discovery of tools: the built-in ones, and those of a package that is really installed."""

import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from ppagent.agent.toolbox import open_toolbox
from ppagent.plugins import BUILT_IN, GROUP, Grade, ToolContext, ToolSource, discover
from ppagent.targets.recording import Recording

PLUGIN = Path(__file__).parent / "plugins" / "sample_plugin"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample plugin installed in it, without the network."""
    folder = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "sample_plugin"
    for path in PLUGIN.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            copy = source / path.relative_to(PLUGIN)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
               "--disable-pip-version-check", "--target", str(folder), str(source)]  # fmt: skip
    installed = subprocess.run(command, capture_output=True, text=True, check=False)
    if installed.returncode != 0:
        _install_by_hand(source, folder)
    return folder


def _install_by_hand(source: Path, folder: Path) -> None:
    """What an installer leaves behind, for an environment without pip or hatchling."""
    import tomllib

    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    package = folder / "ppagent_sample"
    package.mkdir()
    for path in (source / "ppagent_sample").glob("*.py"):
        (package / path.name).write_bytes(path.read_bytes())
    info = folder / f"ppagent_sample-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: {project['version']}\n")
    rows = "".join(f"{name} = {value}\n" for name, value in project["entry-points"][GROUP].items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{rows}")


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(site))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "ppagent_sample"]:
        del sys.modules[name]


def by_name(sources: tuple[ToolSource, ...]) -> dict[str, ToolSource]:
    return {source.name: source for source in sources}


def test_built_in_tools_come_first_and_need_no_install() -> None:
    assert tuple(source.name for source in discover())[: len(BUILT_IN)] == tuple(BUILT_IN)


@pytest.mark.usefixtures("installed")
def test_tools_of_an_installed_package_are_found_under_its_name() -> None:
    source = by_name(discover())["sample"]
    assert source.origin == "ppagent-sample"
    assert [tool.name for tool in source.tools] == ["sample.greeting"]
    assert source.tools[0].grade is Grade.READ_FILE


@pytest.mark.usefixtures("installed")
def test_a_class_is_a_source_of_one_tool() -> None:
    assert [tool.name for tool in by_name(discover())["sample-single"].tools] == ["sample.uptime"]


@pytest.mark.usefixtures("installed")
def test_a_plugin_that_fails_to_load_is_reported_and_stops_nothing() -> None:
    sources = by_name(discover())
    broken = sources["sample-broken"]
    assert broken.tools == ()
    assert broken.error == "RuntimeError: the sample's driver is not installed"
    assert sources["sample"].tools
    warnings = open_toolbox(discover(), "recording").warnings
    assert any("sample-broken (ppagent-sample) did not load: RuntimeError" in warning for warning in warnings)


@pytest.mark.usefixtures("installed")
def test_an_installed_tool_answers_like_a_built_in_one(tmp_path: Path) -> None:
    host = tmp_path / "case" / "hosts" / "box"
    host.mkdir(parents=True)
    (host / "sglang_version.txt").write_text("0.5.11\n")
    offer = open_toolbox(discover(), "recording").find("sample.greeting")
    assert offer is not None
    assert not offer.built_in
    (finding,) = offer.tool.run(ToolContext(Recording(tmp_path / "case")), offer.tool.arguments())
    assert finding.facts == {"stated.greeting": "hello box"}
    assert finding.excerpt == "0.5.11"


def test_without_the_package_there_is_no_trace_of_it() -> None:
    assert "sample" not in {entry.name for entry in entry_points(group=GROUP)}
