"""Runs the peers on the corpus and writes results.json: `python evals/peers/run_peers.py [WORK_DIR]`.

Each peer gets an environment of its own below WORK_DIR (a temporary folder by default), from the package index. Needs
the project installed, and a minute or three for a hundred incidents. Not part of the tests.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from ppagent_evals.runner import find_incidents
from ppagent_evals.served import as_dcgm, as_vllm, scrapes_of, served

HERE = Path(__file__).parent
INCIDENTS = HERE.parent / "incidents"
VERSIONS = {"inferguard": "0.7.4", "vllm-doctor": "0.6.0"}
ACCEPTS = {
    "inferguard": "server.log as a failed job's standard error, and metrics scrapes (SGLang's names) with GPU samples "
    "as DCGM; its job's request profile from the benchmark's means",
    "vllm-doctor": "the last metrics scrape, with SGLang's names put as the vLLM names that it reads",
}
Case = dict[str, Any]
Diagnose = Callable[[Path, Path], Case | None]


def environment(name: str, work: Path) -> Path:
    """The peer's program, in an environment of its own."""
    place = work / name
    if not (place / "bin" / name).exists():
        venv.create(place, with_pip=True, clear=True)
        wanted = f"{name}=={VERSIONS[name]}"
        subprocess.run([place / "bin" / "python", "-m", "pip", "install", "-q", wanted], check=True)
    return place / "bin" / name


def run(program: Path, *words: str) -> str:
    """Its standard output, whatever its exit status says."""
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=900)
    return done.stdout


def inferguard(program: Path, recording: Path) -> Case | None:
    """Both of its diagnosers: the bottleneck of a completed job, and the failure in its output."""
    logs, scrapes = sorted((recording / "hosts").glob("*/server.log")), scrapes_of(recording)
    if not logs and not scrapes:
        return None
    with tempfile.TemporaryDirectory() as place:
        job = Path(place) / "job"
        (job / "launch").mkdir(parents=True)
        (job / "launch" / "stderr.log").write_text("".join(p.read_text(encoding="utf-8") for p in logs))
        found = [failure["class"] for failure in said(program, job, "classify-failures")["failures"]]
        if scrapes:  # without its metrics files it always answers that evidence is missing
            collect(program, recording, scrapes, job)
            found.append(said(program, job, "diagnose-bottleneck")["verdict"])
    findings = sorted({word for word in found if word != "not_enough_evidence"})
    return {"id": recording.name, "findings": findings, "no_data": not findings}


WRITES = {
    "classify-failures": "failure_classification.json",
    "diagnose-bottleneck": "bottleneck_diagnosis.json",
}


def said(program: Path, job: Path, command: str) -> Case:
    """What a command of inferguard writes about the job."""
    run(program, command, "--job-dir", str(job), "--output-dir", str(job / "out"), "--json-only")
    document: Case = json.loads((job / "out" / WRITES[command]).read_text(encoding="utf-8"))
    return document


def collect(program: Path, recording: Path, scrapes: list[str], job: Path) -> None:
    """Its own collection over the recorded scrapes, and the request profile that it insists on."""
    with served({"/metrics": scrapes, "/dcgm": [as_dcgm(recording)]}) as address:
        words = ["--engine", "sglang", "--engine-metrics-url", f"{address}/metrics", "--duration-seconds", "2"]
        words += ["--dcgm-metrics-url", f"{address}/dcgm", "--output-dir", str(job / "metrics")]
        run(program, "collect-metrics", *words)
    profile = job / "request_profile"
    profile.mkdir()
    bench = recording / "bench.jsonl"
    rows = [json.loads(line) for line in bench.read_text().splitlines()] if bench.is_file() else []
    (profile / "requests_profile.jsonl").write_text("".join(json.dumps(request_of(row)) + "\n" for row in rows))
    (profile / "requests_summary.json").write_text(json.dumps(summary_of(rows[-1] if rows else {})))


def request_of(row: Case) -> Case:
    """A load level as if it were one request of that run."""
    return {"ttft_ms": row.get("mean_ttft_ms"), "tpot_ms": row.get("mean_tpot_ms"), "status": "success"}


def summary_of(row: Case) -> Case:
    """The benchmark's mean for every percentile that it does not give."""
    percentiles = {"p50": "median", "p95": "p95", "p99": "p99"}
    return {
        name: {theirs: row.get(f"{ours}_{name}", row.get(f"mean_{name}")) for theirs, ours in percentiles.items()}
        for name in ("ttft_ms", "tpot_ms", "e2e_latency_ms")
    }


def vllm_doctor(program: Path, recording: Path) -> Case | None:
    scrapes = scrapes_of(recording)
    if not scrapes:
        return None
    with served({"/metrics": [as_vllm(scrapes[-1])]}) as address:
        said = run(program, "diagnose", f"{address}/metrics", "--output", "json", "--verbose")
    report = json.loads(said)
    findings = sorted(check["id"] for check in report["checks"] if check.get("finding"))
    read = [metric["value"] for metric in report["metrics"].values() if metric["value"] is not None]
    return {"id": recording.name, "findings": findings, "no_data": not read}


PEERS: dict[str, Diagnose] = {"inferguard": inferguard, "vllm-doctor": vllm_doctor}


def main(work: Path) -> None:
    recordings = [path for path in find_incidents([INCIDENTS]) if path.is_dir()]
    peers = []
    for name, diagnose in PEERS.items():
        program = environment(name, work)
        cases = [case for recording in recordings if (case := kept(work, name, program, recording, diagnose))]
        peers.append({"name": name, "version": VERSIONS[name], "accepts": ACCEPTS[name], "cases": cases})
        print(f"{name} {VERSIONS[name]}: {len(cases)} of {len(recordings)} incidents")
    document = {"date": date.today().isoformat(), "peers": peers}
    (HERE / "results.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def kept(work: Path, name: str, program: Path, recording: Path, diagnose: Diagnose) -> Case | None:
    """The case's findings, from an earlier run in the same WORK_DIR where that got so far."""
    path = work / f"{name}-{recording.name}.json"
    if not path.is_file():
        path.write_text(json.dumps(diagnose(program, recording)), encoding="utf-8")
    case: Case | None = json.loads(path.read_text(encoding="utf-8"))
    return case


if __name__ == "__main__":
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp(prefix="peers-"))
    try:
        main(given)
    finally:
        if len(sys.argv) < 2:
            shutil.rmtree(given)
