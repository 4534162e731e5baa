import csv
import io
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from targets_samples import BENCH_TABLE, BOX_TABLE, DECODE, TOPOLOGY

from ppagent.errors import NotRecorded
from ppagent.targets.pasted import Pasted, read_pasted
from ppagent.targets.target import Artifact, Shared, Target
from tests.fixtures.growth import LINEAR, growth

STORY = f"""\
We run Kimi K2.6 on 8x RTX PRO 6000. It gives 24.7 tok/s, e.g. at C=1.

```
$ NCCL_P2P_LEVEL=SYS python3 -m sglang.launch_server \\
    --model-path /m --pp-size 8 \\
    --disable-cuda-graph
{DECODE.format(s=1, pp=0)}
{DECODE.format(s=2, pp=0)}
Traceback (most recent call last):
  File "x.py", line 1, in run
RuntimeError: NCCL error
```

{BOX_TABLE}
gpu util at 150/200 out of 600, makes no sense.
{TOPOLOGY}
{BENCH_TABLE}
[  12.5] NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.
Why is it slow?
"""


def incident(pasted: Pasted) -> dict[str, object]:
    loaded = yaml.safe_load(pasted.shared(Shared.INCIDENT))
    assert isinstance(loaded, dict)
    return loaded


def rows(pasted: Pasted, artifact: Artifact) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(pasted.text("pasted", artifact))))


def test_every_part_of_a_story_is_found_and_the_rest_are_the_users_words() -> None:
    pasted = read_pasted(STORY)
    assert isinstance(pasted, Target)
    assert set(pasted.artifacts) == {
        Artifact.LAUNCH, Artifact.SERVER_LOG, Artifact.GPUS, Artifact.GPU_PROCESSES, Artifact.TOPOLOGY, Artifact.DMESG,
    }  # fmt: skip
    assert incident(pasted)["question"] == "Why is it slow?"
    assert incident(pasted)["stated"] == [
        "We run Kimi K2.6 on 8x RTX PRO 6000.",
        "It gives 24.7 tok/s, e.g. at C=1.",
        "gpu util at 150/200 out of 600, makes no sense.",
    ]


def test_log_lines_and_their_tracebacks_are_kept_as_they_stand() -> None:
    lines = list(read_pasted(STORY).log("pasted"))
    assert len(lines) == 5
    assert all(line.decode() in STORY for line in lines)
    assert lines[-1] == b"RuntimeError: NCCL error\n"


def test_a_command_is_kept_with_its_continued_lines_and_without_its_prompt() -> None:
    launch = read_pasted(STORY).text("pasted", Artifact.LAUNCH)
    assert launch.startswith("NCCL_P2P_LEVEL=SYS python3 -m sglang.launch_server \\\n")
    assert launch.endswith("    --disable-cuda-graph\n")
    assert launch in STORY


def test_the_table_of_nvidia_smi_becomes_samples_that_quote_it() -> None:
    first, second = rows(read_pasted(STORY), Artifact.GPUS)
    pasted = second.pop("pasted")
    assert pasted in STORY
    assert second == {
        "index": "1", "name": "NVIDIA RTX PRO 6000 Blac...", "utilization.gpu": "12", "power.draw": "184",
        "power.limit": "600", "memory.used": "88001", "memory.total": "97887", "temperature.gpu": "33",
        "pci.bus_id": "00000000:02:00.0",
    }  # fmt: skip
    assert first["utilization.gpu"] == "0"


def test_the_processes_of_nvidia_smi_are_kept() -> None:
    assert rows(read_pasted(STORY), Artifact.GPU_PROCESSES)[1] == {
        "index": "1", "pid": "1235", "name": "/usr/bin/blender", "used_memory_mib": "500",
    }  # fmt: skip


def test_the_topology_is_kept_with_its_legend() -> None:
    assert read_pasted(STORY).text("pasted", Artifact.TOPOLOGY) == TOPOLOGY


def test_a_benchmark_table_becomes_a_line_of_results_that_quotes_it() -> None:
    (line,) = read_pasted(STORY).shared(Shared.BENCH).splitlines()
    assert json.loads(line) == {
        "request_rate": "inf", "max_concurrency": 8, "completed": 128, "duration": 47.13, "output_throughput": 95.6,
        "mean_ttft_ms": 387.0, "median_itl_ms": 83.7, "pasted": "Output token throughput (tok/s):         95.60",
    }  # fmt: skip


def test_two_benchmark_tables_are_two_results() -> None:
    text = BENCH_TABLE + "\nand then\n" + BENCH_TABLE.replace("95.60", "24.70").replace("8\n", "1\n", 1)
    assert len(read_pasted(text).shared(Shared.BENCH).splitlines()) == 2


def test_results_and_answers_of_the_server_are_known_by_their_keys() -> None:
    info = {"model_path": "/m", "tp_size": 1, "internal_states": [{}], "version": "0.5.11"}
    text = "server says\n" + json.dumps(info, indent=1) + '\n{"max_concurrency": 8, "output_throughput": 9.5}\n{"a": 1}'
    pasted = read_pasted(text)
    assert json.loads(pasted.text("pasted", Artifact.SERVER_INFO)) == info
    assert json.loads(pasted.shared(Shared.BENCH)) == {"max_concurrency": 8, "output_throughput": 9.5}
    assert "server says" in pasted.words
    assert '{"a": 1}' in pasted.words


def test_queried_rows_keep_their_header_or_take_it_from_the_query() -> None:
    with_header = "index, name, power.draw [W]\n0, NVIDIA H100, 85.00 W\n"
    assert read_pasted(with_header + "hm").text("pasted", Artifact.GPUS) == with_header
    query = "nvidia-smi --query-gpu=index,power.draw --format=csv,noheader\n0, 85.00 W\n"
    assert read_pasted(query).text("pasted", Artifact.GPUS) == "index,power.draw\n0, 85.00 W\n"


@pytest.mark.parametrize(
    ("text", "launch", "words"),
    [
        ("I run `sglang serve m --pp-size 8` here", "sglang serve m --pp-size 8\n", "I run  here"),
        ("Started with python -m sglang.launch_server --model m --pp-size 8 --disable-cuda-graph and it crawls.",
         "python -m sglang.launch_server --model m --pp-size 8 --disable-cuda-graph\n", "Started with and it crawls."),
        ("export A=1\nsglang serve m --pp 8\n", "export A=1\nsglang serve m --pp 8\n", ""),
        ("slow:\n\n[Service]\nEnvironment=A=b\nExecStart=python3 -m sglang.launch_server \\\n --pp 4\n\nwhy",
         "[Service]\nEnvironment=A=b\nExecStart=python3 -m sglang.launch_server \\\n --pp 4\n", "slow: why"),
        ("docker run -e A=b \\\n img \\\n python3 -m sglang.launch_server --tp 8\nis slow",
         "docker run -e A=b \\\n img \\\n python3 -m sglang.launch_server --tp 8\n", "is slow"),
    ],
)  # fmt: skip
def test_a_command_is_found_in_whatever_it_stands_in(text: str, launch: str, words: str) -> None:
    pasted = read_pasted(text)
    assert pasted.text("pasted", Artifact.LAUNCH) == launch
    assert pasted.words.split() == words.split()


def test_a_manifest_is_kept_whole() -> None:
    manifest = 'containers:\n- name: sglang\n  command: ["python", "-m", "sglang.launch_server"]\n  args:\n  - --pp=4\n'
    assert read_pasted(f"{manifest}\nslow with 8 users").text("pasted", Artifact.LAUNCH) == manifest


def test_what_a_parser_prints_is_no_launch_command() -> None:
    pasted = read_pasted("launch_server.py: error: ambiguous option: --pp could match --pp-size, --pp-async")
    assert set(pasted.artifacts) == {Artifact.SERVER_LOG}


def test_words_alone_are_an_incident_and_nothing_else() -> None:
    pasted = read_pasted("My server is slow. Why?")
    assert pasted.empty
    assert incident(pasted)["stated"] == ["My server is slow."]
    with pytest.raises(NotRecorded):
        pasted.shared(Shared.BENCH)
    with pytest.raises(NotRecorded):
        pasted.log("pasted")


@given(st.lists(st.sampled_from([*STORY.splitlines(), "", "{", "|", "- a: b", "word, word"]), max_size=30))
def test_any_shuffle_of_lines_is_read_and_no_word_is_invented(lines: list[str]) -> None:
    pasted = read_pasted("\n".join(lines))
    written = set(" ".join(lines).split())
    assert set(pasted.words.split()) <= written


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    read_pasted(text)


@pytest.mark.parametrize("filler", ['{"a":', "|", "a=b ", "- a\n", "GPU0 GPU1\n", "sglang serve ", "\\\n", "0, 1\n"])
@pytest.mark.bench
def test_the_time_for_hostile_text_grows_with_its_length(filler: str) -> None:
    assert growth(read_pasted, filler, 50_000) < LINEAR


SECRET = "zQhunter2Xy9w"


@pytest.mark.parametrize(
    "text",
    [
        f'sglang serve m --model-loader-extra-config \'{{"api_key": "{SECRET}"}}\' --tp 8',
        f"sglang serve m --api-key {SECRET}, it is slow",
        f"HF_TOKEN={SECRET} sglang serve m",
        f'{{"model_path": "m", "tp_size": 8, "api_key": "{SECRET}"}}',
        f"{DECODE.format(s=1, pp=0)}\nRuntimeError: password={SECRET}",
        f"my password: {SECRET}",
    ],
)
def test_taking_a_text_apart_parts_no_secret_from_its_name(text: str) -> None:
    pasted = read_pasted(text)
    assert SECRET not in "".join((*pasted.artifacts.values(), pasted.bench, pasted.words))
