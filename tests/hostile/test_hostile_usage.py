"""Wrong usage of every option: one sentence, what to do, status 2, and no traceback."""

import io
from pathlib import Path

import pytest

from ppagent.cli.main import main
from ppagent.errors import ExitStatus

SERVER = "http://127.0.0.1:9"
RING = "--stages 4 --stage-ms 5"
WRONG = f"""
diagnose CASE --max-steps 0|diagnose CASE --max-steps 1.5|diagnose CASE --max-seconds nan|diagnose CASE --max-cost -1
diagnose CASE --max-tokens x|diagnose CASE --ceiling 6|diagnose CASE --yes -1|diagnose CASE --brain gpt
diagnose CASE --format pdf|diagnose CASE --port 0|diagnose CASE --port 65536|diagnose CASE --port x|diagnose CASE CASE
diagnose CASE --brain llm|diagnose CASE --base-url ftp://x|diagnose CASE --base-url http://
diagnose CASE --base-url http://[::1|diagnose CASE --base-url http://x:99999999|diagnose|diagnose -- -x|diagnose -x
diagnose ssh://|diagnose ssh://h:99999|diagnose ssh://a,,b|diagnose http://[::1|diagnose ,|diagnose CASE --nope
record CASE|record CASE -o OUT --seconds nan|record CASE -o OUT --seconds -1|record /no/such -o OUT|record CASE -o CASE
explain PP999|explain --no-such-flag|explain --pp-size --version nope|explain --pp-size --tree /no/such
flags --version nope|flags --version 0.5.10 --tree /no/such|flags --tree CASE
check CASE --version 0.0.0|check CASE --tree CASE|check CASE --port 65536|check
predict --stages 0|predict --stages -1 --stage-ms 5|predict --stages 4 --stage-ms 1,2
predict --stages 4 --stage-ms nan
predict --stages 4 --stage-ms -5|predict {RING} --host-ms -1|predict {RING} --hop-ms inf
predict {RING} --at-concurrency 0|predict {RING} --set x|predict {RING} --set pp_max_micro_batch_size=-1
predict {RING} --set pp_max_micro_batch_size=abc|predict {RING} --format pdf|predict CASE {RING}|predict /no/such
bench|bench CASE|bench ftp://x|bench http://|bench http://x:999999|bench http://[::1|bench {SERVER} --concurrency 0
bench {SERVER} --concurrency 1,,2|bench {SERVER} --rate nan|bench {SERVER} --rate 0|bench {SERVER} --think-time -1
bench {SERVER} --input-len 9-1|bench {SERVER} --input-len 0|bench {SERVER} --seconds nan|bench {SERVER} --requests 0
bench {SERVER} --with x|bench {SERVER} --prompts /no/such|bench {SERVER} --seed x|bench {SERVER} --port 65536
try|try {SERVER}|try {SERVER} --set x|try {SERVER} --set pp_size=4|try {SERVER} --set pp_max_micro_batch_size=0
try {SERVER} --set pp_max_micro_batch_size=1 --proposal P1|try {SERVER} --proposal P1 --report /no/such
try {SERVER} --set pp_max_micro_batch_size=1 --yes 9|try {SERVER} --set pp_max_micro_batch_size=1 --keep x
eval /no/such|eval --brain x|eval --workers 0|eval --min-score 2|eval --seconds nan|eval --compare /no/such
tools x|tools --format x|nope|--nope|chat|chat /no/such|chat CASE --port 0|chat --resume ../../etc/passwd
"""


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    host = tmp_path_factory.mktemp("usage") / "hosts" / "box"
    host.mkdir(parents=True)
    (host / "launch.txt").write_text("python -m sglang.launch_server --model-path m --pp-size 4\n", "utf-8")
    return host.parents[1]


@pytest.mark.parametrize("words", WRONG.replace("\n", "|").strip("|").split("|"))
def test_wrong_usage_is_a_sentence_and_status_two(
    words: str, case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("STATE", "CONFIG", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    for name in ("OPENAI_BASE_URL", "PPAGENT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.stdin", io.StringIO("why?\n"))
    typed = [word.replace("CASE", str(case)).replace("OUT", str(tmp_path / "out")) for word in words.split()]

    try:
        status = main(typed)
    except SystemExit as stopped:
        status = int(stopped.code or 0)

    said = capsys.readouterr()
    assert status == ExitStatus.USAGE, said.err
    last = said.err.strip().splitlines()[-1]
    assert last.startswith("ppagent") and len(last) > 30
    assert said.out == "" and not list(tmp_path.iterdir())
