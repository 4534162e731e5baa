"""What the host itself says: processors, processes, kernel messages, commands."""

import json

from ppagent_evals.writing.server import Server


def host(cpu_model: str, *, sockets: int = 2, cores: int = 64, numa_nodes: int = 2, governor: str = "performance",
         load_average: float = 14.2, memory_gib: int = 1007, kernel: str = "6.8.0-57-generic") -> str:  # fmt: skip
    """`host.json`."""
    facts = {
        "cpu_model": cpu_model,
        "sockets": sockets,
        "cores": cores,
        "threads": cores * 2,
        "numa_nodes": numa_nodes,
        "governor": governor,
        "load_average": load_average,
        "memory_gib": memory_gib,
        "kernel": kernel,
    }
    return json.dumps(facts) + "\n"


def processes(server: Server, scheduler_cpu: list[float], *, tokenizer_cpu: float = 21.0,
              detokenizer_cpu: float = 9.0) -> str:  # fmt: skip
    """`processes.json`: the launcher, its schedulers in rank order, and the detokenizer."""
    started = "2026-01-01T00:00:00"
    command = server.launch().split()
    rows = [_process(2417, 1, command[command.index("python") :], tokenizer_cpu, started, dict(server.env))]
    for n, (rank, cpu) in enumerate(zip(server.ranks(), scheduler_cpu, strict=True)):
        title = "sglang::scheduler" + server.tags(rank).replace(" ", "_")
        rows.append(_process(3100 + n, 2417, [title], cpu, started, {}))
    rows.append(_process(3300, 2417, ["sglang::detokenizer"], detokenizer_cpu, started, {}))
    return json.dumps(rows, indent=1) + "\n"


def _process(
    pid: int, ppid: int, cmdline: list[str], cpu: float, started: str, env: dict[str, str]
) -> dict[str, object]:
    row: dict[str, object] = {"pid": pid, "ppid": ppid, "user": "llm", "cmdline": cmdline, "env": env}
    return {**row, "cpu_percent": cpu, "started_at": started}


def commands(rows: list[tuple[list[str], str]]) -> str:
    """`commands.jsonl` from (arguments, standard output)."""
    return "".join(
        json.dumps({"argv": argv, "exit": 0, "stdout": out, "stderr": "", "at": "2026-01-01T00:00:00"}) + "\n"
        for argv, out in rows
    )
