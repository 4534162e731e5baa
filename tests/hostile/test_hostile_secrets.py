"""Secrets of every shape in every place: none of them in what is shown, written, kept or sent to a model."""

import json
import random
import string
from pathlib import Path

import pytest
from hostile_cases import copied, host_of

from ppagent.cli.main import main
from ppagent.evidence.masking import MASK, mask
from ppagent.plugins import discover
from tests.brains.loopback import Behaviour, sends, serving
from tests.brains.wire_samples import chunk, piece, sse, usage

_DRAWN = random.Random(1)


def drawn(length: int, characters: str = string.ascii_letters + string.digits) -> str:
    return "".join(_DRAWN.choice(characters) for _ in range(length))


HEX, DIGITS = "0123456789abcdef", string.digits
SHAPES = {
    "openai": "sk-" + drawn(48),
    "openai project": "sk-proj-" + drawn(40),
    "anthropic": "sk-ant-api03-" + drawn(60),
    "hf": "hf_" + drawn(34),
    "aws": "AKIA" + drawn(16, string.ascii_uppercase),
    "aws session": "ASIA" + drawn(16, HEX.upper()),
    "gcp key": "AIza" + drawn(35),
    "gcp oauth": "ya29." + drawn(60),
    "gcp secret": "GOCSPX-" + drawn(28),
    "azure": "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=" + drawn(86) + "==;Suffix=x",
    "azure sas": "https://x.blob.core.windows.net/c?sv=2022&sig=" + drawn(43) + "%3D",
    "presigned": "https://b.s3.amazonaws.com/k?X-Amz-Signature=" + drawn(64, HEX),
    "github": "ghp_" + drawn(36),
    "github oauth": "gho_" + drawn(36),
    "github server": "ghs_" + drawn(36),
    "github fine": "github_pat_" + drawn(22) + "_" + drawn(59),
    "gitlab": "glpat-" + drawn(20),
    "gitlab runner": "glrt-" + drawn(20),
    "slack bot": "xoxb-" + drawn(12, DIGITS) + "-" + drawn(24),
    "slack app": "xapp-1-" + drawn(10) + "-" + drawn(40),
    "slack hook": "https://hooks.slack.com/services/T" + drawn(8) + "/B" + drawn(8) + "/" + drawn(24),
    "discord": "https://discord.com/api/webhooks/" + drawn(18, DIGITS) + "/" + drawn(68),
    "telegram": drawn(9, "123456789") + ":AA" + drawn(33),
    "jwt": "eyJ" + drawn(20) + ".eyJ" + drawn(30) + "." + drawn(40),
    "npm": "npm_" + drawn(36),
    "pypi": "pypi-AgEIcHlwaS5vcmc" + drawn(60),
    "stripe": "sk_live_" + drawn(24),
    "stripe hook": "whsec_" + drawn(32),
    "sendgrid": "SG." + drawn(22) + "." + drawn(43),
    "twilio": "SK" + drawn(32, HEX),
    "digitalocean": "dop_v1_" + drawn(64, HEX),
    "groq": "gsk_" + drawn(50),
    "replicate": "r8_" + drawn(37),
    "nvidia": "nvapi-" + drawn(60),
    "together": "tgp_v1_" + drawn(40),
    "openrouter": "sk-or-v1-" + drawn(64, HEX),
    "xai": "xai-" + drawn(80),
    "perplexity": "pplx-" + drawn(48),
    "langsmith": "lsv2_pt_" + drawn(32) + "_" + drawn(10),
    "vault": "hvs." + drawn(90),
    "databricks": "dapi" + drawn(32, HEX),
    "tailscale": "tskey-auth-" + drawn(12) + "-" + drawn(30),
    "docker": "dckr_pat_" + drawn(27),
    "shopify": "shpat_" + drawn(32, HEX),
    "grafana": "glsa_" + drawn(32) + "_" + drawn(8),
    "age": "AGE-SECRET-KEY-1" + drawn(58, string.ascii_uppercase),
    "login": "https://user:" + drawn(20) + "@host.example/x",
    "login without a scheme": "user:" + drawn(20) + "@proxy.example:3128",
    "redis": "redis://:" + drawn(20) + "@h:6379/0",
    "basic": "Authorization: Basic " + drawn(30) + "=",
    "bearer": "Authorization: Bearer " + drawn(40),
    "cookie": "Cookie: session=" + drawn(32),
    "key of an option": "--wandb-key=" + drawn(20),
    "variable": "KAGGLE_KEY=" + drawn(32),
    "pem": "-----BEGIN RSA PRIVATE KEY-----\nMII" + drawn(60) + "\n" + drawn(64) + "\n-----END RSA PRIVATE KEY-----",
    "pgp": "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + drawn(64) + "\n-----END PGP PRIVATE KEY BLOCK-----",
}
FORMS = (
    "{}",
    "Exception: cannot fetch with {} today",
    "[2026-05-02 10:00:01 PP0] got {}, retry",
    "('{}',)",
    '{{"a": "{}"}}',
)
_PUBLIC = {"DefaultEndpointsProtocol"}


def parts(secret: str) -> set[str]:
    """The pieces of a secret that nobody could have by chance."""
    runs = "".join(c if c.isalnum() else " " for c in secret).split()
    return {run for run in runs if len(run) >= 16} - _PUBLIC


def ill_kept(text: str, secrets: dict[str, str]) -> list[str]:
    return sorted(name for name, secret in secrets.items() if any(part in text for part in parts(secret)))


@pytest.mark.parametrize("kind", SHAPES)
def test_a_secret_is_known_by_its_shape_wherever_it_stands(kind: str) -> None:
    for form in FORMS:
        masked = mask(form.format(SHAPES[kind]))
        assert MASK in masked and ill_kept(masked, SHAPES) == []
        assert mask(masked) == masked


def test_a_header_in_front_of_a_private_key_leaves_none_of_it() -> None:
    assert ill_kept(mask(f"{SHAPES['cookie']} {SHAPES['pem']}"), SHAPES) == []


@pytest.mark.parametrize(
    "harmless",
    [
        "tensor:model@rank",
        "PP0:TP0@node",
        "git@github.com:sgl-project/sglang.git",
        "10.0.0.1:50000",
        "sglang@0.5.11:latest",
        "SKU: SK12, dapi",
        "--ssl-keyfile /etc/key.pem",
        "key=value",
        "see https://x/y?sign=1",
        "KEY=1",
    ],
)
def test_what_is_no_secret_stays(harmless: str) -> None:
    assert mask(harmless) == harmless


class Planted:
    """Secrets under names, each of its own, that stand somewhere in a case."""

    def __init__(self) -> None:
        self.all = dict(SHAPES)

    def __call__(self, where: str) -> str:
        self.all[where] = "Zq" + drawn(26)
        return self.all[where]


def plant(case: Path, secret: Planted) -> None:
    host = host_of(case)
    launch = (host / "launch.txt").read_text("utf-8").strip()
    (host / "launch.txt").write_text(
        f"HF_TOKEN={secret('variable')} {launch} --api-key {secret('launch')} --admin-api-key={secret('admin')}"
        f' --served-model-name {SHAPES["hf"]} --model-override \'{{"auth_token": "{secret("override")}"}}\'\n',
        "utf-8",
    )
    info = json.loads((host / "server_info.json").read_text("utf-8"))
    info |= {
        "api_key": secret("info"),
        "admin_api_key": secret("info admin"),
        "model_path": SHAPES["login"],
        "more": {"password": secret("nested"), "words": ["--api-key", secret("in a list")]},
        "env": [{"name": "AWS_SECRET_ACCESS_KEY", "value": secret("pair")}],
        "note": " ".join(SHAPES.values()),
    }
    (host / "server_info.json").write_text(json.dumps(info), "utf-8")
    log = (host / "server.log").read_text("utf-8")
    trouble = "\n".join(
        [f"[2026-05-02 14:24:00] server_args=ServerArgs(api_key='{secret('log')}', hf_token='{secret('log hf')}')"]
        + [f"[2026-05-02 14:24:00 PP0] ERROR failed with {shape}" for shape in SHAPES.values()]
        + ["Traceback (most recent call last):", f'  client = OpenAI(api_key="{secret("code")}")']
        + [
            f"RuntimeError: NCCL error: token={secret('error')}",
            f'"POST /v1/chat?api_key={secret("access")} HTTP/1.1" 200',
        ]
    )
    (host / "server.log").write_text(f"{trouble}\n{log}\n{trouble}\n", "utf-8")
    process = {
        "pid": 1,
        "ppid": 0,
        "user": "llm",
        "cpu_percent": 300.0,
        "started_at": "2026-01-01T00:00:00",
        "cmdline": ["python", "x.py", "--api-key", secret("ps"), f"--wandb-key={secret('ps key')}", SHAPES["github"]],
        "env": {"HF_TOKEN": secret("ps variable"), "X_URL": SHAPES["redis"], "GITHUB_PAT": secret("ps pat")},
    }
    (host / "processes.json").write_text(json.dumps([process]), "utf-8")
    (host / "environment.txt").write_text(f"HF_TOKEN={secret('environment')}\nNCCL_X={SHAPES['jwt']}\n", "utf-8")
    (host / "dmesg.txt").write_text(
        f"NVRM: Xid (PCI:0000:01:00): 79, pid=1, name=x --api-key {secret('dmesg')}\n", "utf-8"
    )
    (host / "gpu_processes.csv").write_text(
        f"index,pid,name,used_memory_mib\n0,99,python --token {secret('gpu')} {SHAPES['npm']},30000\n", "utf-8"
    )
    row = json.loads((case / "bench.jsonl").read_text("utf-8").splitlines()[0])
    row |= {"api_key": secret("bench"), "model_id": SHAPES["hf"], "dataset_path": f"/data/{SHAPES['openai']}"}
    with (case / "bench.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    with (case / "incident.yaml").open("a", encoding="utf-8") as file:
        file.write(f"\nnote: api_key={secret('yaml')}\n")


def test_nothing_planted_is_shown_kept_or_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = Planted()
    case = copied("kimi-k26-pp8", tmp_path)
    plant(case, secret)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    ask = f"why? my key is {SHAPES['gcp key']} and api_key={secret('question')}"
    tools = [tool.name for source in discover() for tool in source.tools]
    look = piece(0, "a", "look", json.dumps({"tools": tools[:8], "why": "to see"}))
    done = piece(0, "z", "finish", "{}")
    behaviour = Behaviour(
        [sends(sse([chunk({"tool_calls": [call]}), chunk({}, "tool_calls"), usage(9, 9)])) for call in (look, done)]
    )

    with serving(behaviour) as url:
        main(["diagnose", str(case), "--question", ask, "--model", "lab", "--base-url", url, "--format", "json"])
    for form in ("text", "markdown", "html"):
        main(["diagnose", str(case), "--question", ask, "--format", form])
    main(["record", str(case), "-o", str(tmp_path / "sent"), "--question", ask])
    for words in (["check", str(case)], ["flags", str(case), "api_key"], ["predict", str(case)]):
        main(words)

    shown = capsys.readouterr()
    assert ill_kept(shown.out + shown.err, secret.all) == []
    assert len(behaviour.requests) >= 2 and ill_kept(json.dumps(behaviour.requests), secret.all) == []
    written = [path for folder in ("sent", "state") for path in (tmp_path / folder).rglob("*") if path.is_file()]
    assert any(path.suffix == ".jsonl" and "sessions" in path.parts for path in written) and len(written) > 8
    for path in written:
        assert ill_kept(path.read_text("utf-8"), secret.all) == [], path


@pytest.mark.parametrize(
    "words",
    [
        ["diagnose", "{}"],
        ["diagnose", "ssh://u:{}@h"],
        ["eval", "/no/{}"],
        ["explain", "{}"],
        ["{}"],
        ["tools", "{}"],
        ["predict", "--set", "api_key={}"],
        ["bench", "http://u:{}@127.0.0.1:9"],
    ],
)
def test_a_secret_on_the_command_line_is_not_repeated(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    secret = SHAPES["openai"]
    try:
        status = main([word.format(secret) for word in words])
    except SystemExit as stopped:
        status = int(stopped.code or 0)

    assert status == 2
    said = capsys.readouterr().err
    assert said and parts(secret).isdisjoint(said.replace("-", " ").split()) and secret[3:] not in said
