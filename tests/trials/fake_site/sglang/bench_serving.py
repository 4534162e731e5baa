"""A stand-in for the benchmark: says how it was run, in a row of the shape of the real one.

By its tokenizer: `bad` fails, `slow` never ends. It writes to its folder and its caches, as imports of the real one do.
"""

import json
import os
import sys
import time
from pathlib import Path
from urllib.request import Request, urlopen

SEEN = ("OPENAI_API_KEY", "API_KEY", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "http_proxy", "SGLANG_IS_IN_CI", "HOME")


def main() -> None:
    words = sys.argv[1:]
    options = dict(zip(words, words[1:], strict=False))
    Path("left.txt").write_text("x")
    Path.home().joinpath(".cache", "somebody").mkdir(parents=True)
    print("benchmark_args=Namespace(...)")
    print("Starting warmup with 4 sequences...", flush=True)
    if options["--tokenizer"] == "bad":
        raise SystemExit("no such tokenizer")
    while options["--tokenizer"] == "slow":
        time.sleep(1)
    for done in (0, 3, 4):  # as tqdm draws it
        sys.stderr.write(f"\r{25 * done:3d}%|{done * '#':<4}| {done}/4 [00:00<00:00, 9.00it/s]")
        sys.stderr.flush()
    sys.stderr.write("\n")
    key = os.environ.get("OPENAI_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with urlopen(Request(f"{options['--base-url']}/v1/models", headers=headers), timeout=5) as answer:
        model = json.load(answer)["data"][0]["id"]
    row = {
        "backend": "sglang", "max_concurrency": int(options["--max-concurrency"]), "output_throughput": 5.0,
        "median_ttft_ms": 20.0, "completed": 3, "model": model, "argv": words, "python": sys.executable,
        "cwd": str(Path.cwd()), "seen": {name: os.environ.get(name) for name in SEEN},
        "above": Path(f"/proc/{os.getppid()}/cmdline").read_text(), "server_info": {"api_key": "secret"},
        "output_lens": [3, 3, 3, 0], "itls": [[0.1, 0.1], [0.1, 0.1], [0.1], []], "ttfts": [0.01, 0.02, 0.6, 0.0],
        "errors": ["", "", "", "refused"], "generated_texts": ["a", "b", "c", ""], "input_lens": [1, 1, 1, 1],
    }  # fmt: skip
    with Path(options["--output-file"]).open("a") as file:
        file.write(json.dumps(row) + "\n")


main()
