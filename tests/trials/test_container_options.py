"""Settings of containers carried over, held against what real engines showed: dockerd 20.10.24 and podman 4.3.1.

`containers/ENGINE-old.json` is the `inspect` of a container, `-copy.json` that of the one which the engine made out of
the options below, with a new command and one more variable.
"""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.trials.container_options import (
    Options,
    entrypoint_and_rest,
    env_file,
    owner_of,
    policy_of,
    variables_of,
)
from ppagent.trials.container_same import differences
from ppagent.trials.docker_options import docker_options
from ppagent.trials.podman_options import podman_options

FOLDER = Path(__file__).parent / "containers"
ENGINES = ("docker", "podman")


def recorded(name: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / f"{name}.json").read_text()))


def docker(section: str = "", **settings: Any) -> Options:
    shown, image = recorded("docker-old"), recorded("docker-image")
    if section:
        shown[section].update(settings)
    return docker_options(shown, image)


def podman(*options: str, **shown: Any) -> Options:
    old = recorded("podman-old")
    old["Config"]["CreateCommand"] = ["podman", "run", *options, "lmsysorg/sglang:v0.5.11", "python3"]
    old["Mounts"] = []
    return podman_options({**old, **shown})


def follows(words: tuple[str, ...], *wanted: str) -> bool:
    return any(words[at : at + len(wanted)] == wanted for at in range(len(words)))


def test_every_setting_of_a_docker_container_is_an_option() -> None:
    told = docker()
    assert told.refused == ()
    volume = next(mount["Name"] for mount in recorded("docker-old")["Mounts"] if mount["Type"] == "volume")
    for wanted in (
        ("--gpus", "all"),
        ("--volume", "/opt:/models:ro"),
        ("--volume", f"{volume}:/anon"),
        ("--network", "host"),
        ("--ipc", "host"),
        ("--shm-size", "67108864b"),
        ("--ulimit", "memlock=-1:-1"),
        ("--tmpfs", "/scratch:size=64m"),
        ("--security-opt", "seccomp=unconfined"),
        ("--cap-add", "CAP_SYS_NICE"),
        ("--label", "team=llm"),
        ("--workdir", "/sgl-workspace"),
        ("--tty", "--interactive"),
    ):
        assert follows(told.words, *wanted), wanted


def test_every_option_that_a_podman_container_was_made_with_is_given_again() -> None:
    told = podman_options(recorded("podman-old"))
    assert told.refused == ()
    for wanted in (
        ("--device", "nvidia.com/gpu=all"),
        ("--volume", "/opt:/models:ro"),
        ("--interactive=true", "--tty=true"),
        ("--ulimit", "memlock=-1"),
        ("--label", "team=llm"),
    ):
        assert follows(told.words, *wanted), wanted


@pytest.mark.parametrize("engine", ENGINES)
def test_no_variable_and_no_name_is_among_the_options(engine: str) -> None:
    told = docker() if engine == "docker" else podman_options(recorded("podman-old"))
    assert not [word for word in told.words if "hunter2" in word or word in ("llm", "--env", "--name", "--restart")]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_real_engine_made_of_the_options_is_like_the_old_container(engine: str) -> None:
    old, made = recorded(f"{engine}-old"), recorded(f"{engine}-copy")
    assert differences(old, made, {"SGLANG_X": "1"}) == ()
    assert differences(old, made, {}) == ("Config.Env",)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("section", "name", "value"),
    [
        ("HostConfig", "ShmSize", 1),
        ("HostConfig", "ReadonlyRootfs", True),
        ("HostConfig", "Ulimits", []),
        ("HostConfig", "SomethingNew", "x"),
        ("Config", "User", "1000"),
        ("Config", "Labels", {}),
    ],
)
def test_whatever_is_not_the_same_is_named(engine: str, section: str, name: str, value: Any) -> None:
    made = recorded(f"{engine}-copy")
    made[section][name] = value
    assert differences(recorded(f"{engine}-old"), made, {"SGLANG_X": "1"}) == (f"{section}.{name}",)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_mount_and_an_image_that_are_others_are_named(engine: str) -> None:
    made = recorded(f"{engine}-copy")
    made["Mounts"][0]["Source"] += "x"
    made["Image"] = "sha256:0"
    assert differences(recorded(f"{engine}-old"), made, {"SGLANG_X": "1"}) == ("Image", "Mounts")


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({"DeviceRequests": [{"Count": 2, "Capabilities": [["gpu"]]}]}, ("--gpus", "2")),
        ({"DeviceRequests": [{"DeviceIDs": ["0", "1"], "Capabilities": [["gpu"]]}]}, ("--gpus", '"device=0,1"')),
        ({"DeviceRequests": [{"Driver": "cdi", "DeviceIDs": ["a/b=c"]}]}, ("--device", "a/b=c")),
        ({"Runtime": "nvidia"}, ("--runtime", "nvidia")),
        (
            {"Devices": [{"PathOnHost": "/dev/a", "PathInContainer": "/dev/b", "CgroupPermissions": "rw"}]},
            ("--device", "/dev/a:/dev/b:rw"),
        ),
        (
            {"PortBindings": {"30000/tcp": [{"HostIp": "127.0.0.1", "HostPort": "80"}]}},
            ("--publish", "127.0.0.1:80:30000/tcp"),
        ),
        ({"PortBindings": {"1/udp": [{"HostIp": "::1", "HostPort": "2"}]}}, ("--publish", "[::1]:2:1/udp")),
        ({"Privileged": True}, ("--privileged",)),
        ({"Init": True}, ("--init",)),
        ({"NanoCpus": 1500000000}, ("--cpus", "1.5")),
        ({"LogConfig": {"Type": "local", "Config": {"max-size": "10m"}}}, ("--log-driver", "local", "--log-opt")),
        ({"GroupAdd": ["44"], "ExtraHosts": ["h:1.2.3.4"]}, ("--add-host", "h:1.2.3.4")),
        (
            {"Mounts": [{"Type": "bind", "Source": "/a", "Target": "/b", "ReadOnly": True}]},
            ("--mount", "type=bind,target=/b,source=/a,readonly"),
        ),
    ],
)
def test_a_setting_of_docker_becomes_its_option(settings: dict[str, Any], options: tuple[str, ...]) -> None:
    told = docker("HostConfig", **settings)
    assert told.refused == ()
    assert follows(told.words, *options)


@pytest.mark.parametrize(
    ("section", "settings"),
    [
        ("HostConfig", {"AutoRemove": True}),
        ("HostConfig", {"VolumesFrom": ["other"]}),
        ("HostConfig", {"SomethingNew": {"a": 1}}),
        ("HostConfig", {"PublishAllPorts": True}),
        ("HostConfig", {"PortBindings": {"1/tcp": [{"HostIp": "", "HostPort": ""}]}}),
        ("HostConfig", {"LogConfig": {"Type": "none", "Config": {}}}),
        ("HostConfig", {"SecurityOpt": ['seccomp={"defaultAction":"x"}']}),
        ("HostConfig", {"DeviceRequests": [{"Count": -1, "Capabilities": [["gpu"]], "Options": {"a": "b"}}]}),
        ("HostConfig", {"DeviceRequests": [{"Driver": "other", "Count": -1, "Capabilities": [["gpu"]]}]}),
        ("HostConfig", {"Mounts": [{"Type": "volume", "Target": "/b"}]}),
        ("HostConfig", {"Mounts": [{"Type": "bind", "Source": "/a", "Target": "/b", "BindOptions": {"x": 1}}]}),
        ("Config", {"Healthcheck": {"Test": ["CMD", "x"]}}),
        ("Config", {"SomethingNew": True}),
    ],
)
def test_a_setting_of_docker_that_is_not_understood_is_refused_by_its_name(
    section: str, settings: dict[str, Any]
) -> None:
    assert docker(section, **settings).refused == (f"{section}.{next(iter(settings))}",)


def test_the_network_of_another_container_is_refused_with_what_it_is() -> None:
    assert docker("HostConfig", NetworkMode="container:abc").refused == ("HostConfig.NetworkMode=container:abc",)


def test_what_the_image_brings_is_not_told_again() -> None:
    shown, image = recorded("docker-old"), recorded("docker-image")
    check = {"Test": ["CMD", "curl"]}
    image["Config"].update({"Labels": {"a": "b"}, "Healthcheck": check, "ExposedPorts": {"1/tcp": {}}})
    shown["Config"].update(
        {"Labels": {"a": "b", "ppagent.relaunch": "old"}, "Healthcheck": check, "ExposedPorts": {"1/tcp": {}}}
    )
    told = docker_options(shown, image)
    assert told.refused == ()
    assert not {"--label", "--expose"} & set(told.words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-itd", "-v/a:/b:ro", "--name=x", "-e", "A=1"), ("--interactive=true", "--tty=true", "--volume", "/a:/b:ro")),
        (("--gpus=all", "-p", "127.0.0.1:80:80"), ("--gpus", "all", "--publish", "127.0.0.1:80:80")),
        (("--replace", "--init=false", "--label", "ppagent.relaunch=x"), ("--init=false",)),
        (("--env-file", "/dev/stdin", "--restart", "no", "--health-cmd", "true"), ("--health-cmd", "true")),
        (("-v", "cache:/root/.cache", "--net=none"), ("--volume", "cache:/root/.cache", "--net", "none")),
    ],
)
def test_options_of_podman_are_read_as_podman_reads_them(options: tuple[str, ...], words: tuple[str, ...]) -> None:
    assert podman(*options) == Options(words)


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        (("--pod", "p"), "--pod"),
        (("--requires=x",), "--requires x"),
        (("--network", "container:x"), "--network container:x"),
        (("-v", "./x:/y"), "--volume ./x:/y"),
        (("-v", "/anonymous"), "--volume /anonymous"),
        (("--mount", "type=bind,src=./a,dst=/b"), "--mount type=bind,src=./a,dst=/b"),
        (("-p", "30000"), "--publish 30000"),
        (("-p", "127.0.0.1::30000"), "--publish 127.0.0.1::30000"),
        (("-P",), "--publish-all"),
        (("--some-thing-new", "5", "--privileged"), "--some-thing-new"),
    ],
)
def test_an_option_of_podman_that_is_not_understood_is_refused(options: tuple[str, ...], refused: str) -> None:
    assert podman(*options).refused == (refused,)


def test_a_container_of_podman_whose_making_is_not_told_or_concerns_others_is_refused() -> None:
    old = recorded("podman-old")
    old["Config"]["CreateCommand"] = None
    assert "does not tell" in podman_options(old).refused[0]
    assert podman(Pod="abc").refused == ("Pod",)
    assert podman("-v", "/a:/b:Z").refused == ()
    assert podman("-v", "/a:/b:ro,Z", MountLabel="system_u:c1,c2").refused == ("--volume /a:/b:ro,Z",)


@pytest.mark.parametrize(
    ("label", "says"),
    [
        ("com.docker.compose.project", "Compose"),
        ("io.kubernetes.pod.name", "Kubernetes"),
        ("PODMAN_SYSTEMD_UNIT", "systemd unit"),
    ],
)
def test_whoever_else_runs_a_container_is_told_by_its_labels(label: str, says: str) -> None:
    shown = recorded("docker-old")
    assert owner_of(shown) == ""
    shown["Config"]["Labels"][label] = "stack"
    assert says in owner_of(shown)
    assert "stack" in owner_of(shown)


@pytest.mark.parametrize(
    ("own", "command", "words"),
    [
        (None, ("a", "b"), ((), ("a", "b"))),
        (["e"], ("e", "a"), ((), ("a",))),
        (["e", "f"], ("e", "f"), (("--entrypoint", "e"), ("f",))),
        (["e"], ("a",), (("--entrypoint", "a"), ())),
    ],
)
def test_a_command_is_run_as_it_was_whatever_the_images_entrypoint(
    own: list[str] | None, command: tuple[str, ...], words: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    assert entrypoint_and_rest(command, {"Config": {"Entrypoint": own}}) == words


def test_policies_are_told_as_the_engine_takes_them() -> None:
    def policy(**told: Any) -> str:
        return policy_of({"HostConfig": {"RestartPolicy": told}})

    assert policy(Name="on-failure", MaximumRetryCount=3) == "on-failure:3"
    assert (policy(Name="always", MaximumRetryCount=0), policy(Name=""), policy()) == ("always", "no", "no")


def test_a_variable_of_several_lines_is_refused_without_its_value() -> None:
    shown = copy.deepcopy(recorded("docker-old"))
    shown["Config"]["Env"].append("CERT=hunter\n2")
    assert variables_of(shown)[1] == "the variable CERT (no value, several lines, or no text)"


@given(st.dictionaries(st.from_regex(r"[A-Z_]{1,8}", fullmatch=True), st.text(st.characters(codec="utf-8"))))
def test_variables_come_out_of_the_file_as_they_went_in_or_are_refused(variables: dict[str, str]) -> None:
    shown = {"Id": "a" * 64, "Config": {"Env": [f"{name}={value}" for name, value in variables.items()]}}
    told, refused = variables_of(shown)
    if refused:
        assert any(letter in value for value in variables.values() for letter in "\r\n\ufffd")
    else:
        lines = env_file(told).decode().split("\n")[:-1]
        assert dict(line.split("=", 1) for line in lines) == variables
