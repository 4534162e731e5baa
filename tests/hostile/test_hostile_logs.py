"""Logs as people have them: through any carrier, with noise, of another engine, of several starts."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_cases import INCIDENTS, copied, diagnosed, facts, host_of, supported

from ppagent.cli.main import main
from ppagent.errors import ExitStatus

FACTS = ("decode.running_req.p95", "decode.throughput.p50", "decode.lines")


def each(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda log: b"".join(change(line) + b"\n" for line in log.splitlines())


def docker(line: bytes) -> bytes:
    return json.dumps({"log": line.decode() + "\n", "stream": "stderr", "time": "2026-05-02T14:24:25.1Z"}).encode()


CARRIERS: dict[str, Callable[[bytes], bytes]] = {
    "colours": each(lambda line: b"\x1b[32m" + line + b"\x1b[0m"),
    "docker json-file": each(docker),
    "kubernetes CRI": each(lambda line: b"2026-05-02T14:24:25.123456789Z stderr F " + line),
    "journald": each(lambda line: b"May 02 14:24:25 box python[123]: " + line),
    "progress bars": lambda log: b"Loading shards:   0%|          | 0/64\r" * 3000 + b"\n" + log,
    "binary in between": lambda log: random.Random(1).randbytes(100_000) + b"\n" + log,
    "a line without end": lambda log: b"x" * (3 << 20) + b"\n" + log,
    "Windows": lambda log: log.replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_log_says_the_same_through_any_carrier(
    carrier: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = copied("kimi-k26-pp8", tmp_path)
    clean = diagnosed(case, capsys)
    log = host_of(case) / "server.log"
    log.write_bytes(CARRIERS[carrier](log.read_bytes()))

    report = diagnosed(case, capsys)

    assert supported(report) == supported(clean)
    known, found = facts(clean), facts(report)
    assert [found.get(name) for name in FACTS] == [known.get(name) for name in FACTS]


def test_of_two_starts_in_a_log_the_newest_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = copied("healthy-pp4-loaded", tmp_path)
    clean = diagnosed(case, capsys)
    older = (INCIDENTS / "kimi-k26-pp8" / "hosts" / "gpu-box" / "server.log").read_bytes()
    log = host_of(case) / "server.log"
    log.write_bytes(older + log.read_bytes())

    report = diagnosed(case, capsys)

    assert (report["verdict"], supported(report)) == (clean["verdict"], supported(clean))


OTHERS = {
    "vLLM": "INFO 05-02 14:24:25 [loggers.py:118] Engine 0: Avg throughput: 95.3 tokens/s, Running: 8 reqs\n",
    "TensorRT-LLM": "[05/02/2026-14:24:25] [TRT-LLM] [I] iter = 100, global_rank = 0, host_step_time = 12.3 ms\n",
    "TGI": "2026-05-02T14:24:25.123Z  INFO text_generation_launcher: Args { model_id: m }\n",
    "llama.cpp": "srv  update_slots: all slots are idle\n",
}


@pytest.mark.parametrize("engine", OTHERS)
def test_the_log_of_another_engine_is_named(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "server.log"
    log.write_text(OTHERS[engine] * 50, "utf-8")

    assert main(["diagnose", str(log)]) == ExitStatus.USAGE
    said = capsys.readouterr().err
    assert f"There is no line of an SGLang server in {log}: it is a log of {engine}." in said


def test_a_sparse_log_of_gigabytes_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "server.log"
    with log.open("wb") as file:
        file.truncate(256 << 20)

    assert main(["diagnose", str(log)]) == ExitStatus.USAGE
    assert "binary file" in capsys.readouterr().err
