"""Scrapes of /metrics as they should not be: odd values, other programs' answers, several servers, wrong clocks."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_cases import copied, diagnosed, facts, host_of, supported

HEALTHY = "healthy-pp4-loaded"
Spoil = Callable[[str, str], str]


def values(new: str) -> Spoil:
    return lambda _name, text: re.sub(r"(?m)^((?!#)\S.*) \S+$", rf"\g<1> {new}", text)


def only(name: str, spoil: Spoil) -> Spoil:
    return lambda scrape, text: spoil(scrape, text) if scrape == name else text


def spoiled(folder: Path, spoil: Spoil) -> Path:
    case = copied(HEALTHY, folder)
    for path in sorted((host_of(case) / "metrics").iterdir()):
        path.write_text(spoil(path.name, path.read_text("utf-8")), "utf-8")
    return case


@pytest.mark.parametrize(
    "odd", ["NaN", "+Inf", "-Inf", "-1", "1e308", "1e400", "9" * 40, "0x10", "1_000", "\u0661", ""]
)
def test_a_value_that_no_metric_can_have_is_no_value(
    odd: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = diagnosed(spoiled(tmp_path, values(odd)), capsys)

    assert set(facts(report, "metrics.")) <= {"metrics.window_s"}
    assert not supported(report)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no metric is in it"),
        ("<!doctype html><html><body><h1>404 Not Found</h1></body></html>\n", "no metric is in it"),
        ('node_cpu_seconds_total{cpu="0"} 1\nDCGM_FI_DEV_GPU_UTIL{gpu="0"} 50\n', "no metric of SGLang is in it"),
        ('vllm:num_requests_running{model_name="m"} 4\n', "these are metrics of vLLM, not of SGLang"),
        ('trtllm_request_success_total{model_name="m"} 4\n', "these are metrics of TensorRT-LLM, not of SGLang"),
        ('sglang:num_running_reqs{instance="a"} 4\nsglang:num_running_reqs{instance="b"} 4\n', "2 servers are in it"),
    ],
)
def test_what_is_no_scrape_of_one_sglang_server_is_named(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from ppagent.cli.main import main

    case = spoiled(tmp_path, lambda _name, _text: text)
    main(["diagnose", str(case)])
    assert said in " ".join(capsys.readouterr().out.split())


def test_a_series_said_twice_counts_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clean = facts(diagnosed(copied(HEALTHY, tmp_path / "clean"), capsys), "metrics.")

    def twice(name: str, text: str) -> str:
        return text + values("77777777")(name, text).partition("\n")[2]

    assert facts(diagnosed(spoiled(tmp_path / "twice", twice), capsys), "metrics.") == clean


def test_scrapes_are_put_in_the_order_of_their_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = copied(HEALTHY, tmp_path)
    clean = facts(diagnosed(case, capsys), "metrics.")
    scrapes = host_of(case) / "metrics"
    (scrapes / "1.prom").rename(scrapes / "before.prom")
    (scrapes / "3.prom").rename(scrapes / "after.prom")

    assert facts(diagnosed(case, capsys), "metrics.") == clean


@pytest.mark.parametrize("ending", ["\r\n", ' # {trace_id="a"} 0.5 1.2\n'])
def test_other_forms_of_the_text_are_read_the_same(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clean = facts(diagnosed(copied(HEALTHY, tmp_path / "clean"), capsys), "metrics.")

    def changed(_name: str, text: str) -> str:
        return (
            text.replace("\n", ending)
            if ending == "\r\n"
            else re.sub(r"(?m)^(\S*_bucket.*)\n", rf"\g<1>{ending}", text)
        )

    assert facts(diagnosed(spoiled(tmp_path / "changed", changed), capsys), "metrics.") == clean


@pytest.mark.parametrize("encode", [lambda text: gzip.compress(text.encode()), lambda text: text.encode("utf-16")])
def test_a_packed_or_a_windows_file_is_read(
    encode: Callable[[str], bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = copied(HEALTHY, tmp_path)
    clean = facts(diagnosed(case, capsys), "metrics.")
    for path in (host_of(case) / "metrics").iterdir():
        path.write_bytes(encode(path.read_text("utf-8")))

    assert facts(diagnosed(case, capsys), "metrics.") == clean


def test_a_packed_bomb_is_too_large_and_stops_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = copied(HEALTHY, tmp_path)
    bomb = gzip.compress(b"a 1\n" * (20 << 20), compresslevel=1)
    (host_of(case) / "metrics" / "2.prom").write_bytes(bomb)

    report = diagnosed(case, capsys)

    assert not facts(report, "metrics.") and report["verdict"] == "healthy"


@pytest.mark.parametrize("year", ["2027", "1970", "9999"])
def test_a_clock_that_jumps_gives_no_rate(year: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def jump(_name: str, text: str) -> str:
        return text.replace("scraped_at: 2026", f"scraped_at: {year}")

    found = facts(diagnosed(spoiled(tmp_path, only("3.prom", jump)), capsys), "metrics.")

    assert found["metrics.running_reqs"] == 16.0
    assert "metrics.generation_rate" not in found and "metrics.forward_busy" not in found


def test_two_servers_that_answer_in_turn_give_no_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def other(_name: str, text: str) -> str:
        return re.sub(
            r"(?m)^(\S*(?:_total|_sum|_count|_bucket)\{.*) (\S+)$", lambda m: f"{m[1]} {float(m[2]) / 9}", text
        )

    report = diagnosed(spoiled(tmp_path, only("2.prom", other)), capsys)

    found = facts(report, "metrics.")
    assert "metrics.generation_rate" not in found and "metrics.itl_ms" not in found
    assert "metrics.forward_busy" not in found
    assert not supported(report)


def test_a_pause_between_scrapes_is_no_slowness(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = diagnosed(spoiled(tmp_path, only("2.prom", values("0"))), capsys)

    assert facts(report)["metrics.fwd_occupancy"]["PP0"] == pytest.approx(93, abs=1)
    assert report["verdict"] == "healthy" and not supported(report)


def test_a_share_of_time_above_one_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def double(_name: str, text: str) -> str:
        pattern = r"(?m)^(sglang:forward_execution_seconds_total\{.*) (\S+)$"
        return re.sub(pattern, lambda m: f"{m[1]} {float(m[2]) * 3}", text)

    assert "metrics.forward_busy" not in facts(diagnosed(spoiled(tmp_path, double), capsys))


def test_a_flood_of_labels_ends_and_changes_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flood = "".join(f'sglang:num_queue_reqs{{pp_rank="{n}",dp_rank="{n}"}} 5\n' for n in range(1, 3000))
    long = 'sglang:token_usage{engine_type="' + "A" * 2_000_000 + '"} 5\n' + "x{" + 'a="b",' * 50_000 + "} 1\n"

    report = diagnosed(spoiled(tmp_path, lambda _name, text: text + flood + long), capsys)

    assert report["verdict"] == "healthy" and not supported(report)
