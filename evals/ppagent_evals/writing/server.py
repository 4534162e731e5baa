"""One server as it was launched: its command, its resolved arguments, its ranks."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ppagent_evals.writing.cards import Card
from ppagent_evals.writing.fields import defaults
from ppagent_evals.writing.graphs import GraphConfig, default_graph_max_bs, graph_sizes
from ppagent_evals.writing.models import Model
from ppagent_evals.writing.versions import since
from ppagent_evals.writing.words import field_value, shell_words

_DEST = {
    "tp": "tp_size",
    "dp": "dp_size",
    "ep": "ep_size",
    "pp": "pp_size",
    "fp8_gemm_backend": "fp8_gemm_runner_backend",
}


@dataclass(frozen=True)
class Rank:
    """One scheduler. `dp` is None where there are no data-parallel ranks."""

    pp: int = 0
    tp: int = 0
    ep: int = 0
    dp: int | None = None


@dataclass(frozen=True)
class Server:
    """A deployment. `flags` are further launch flags as typed; `effective` are arguments that resolution changed."""

    version: str
    model: Model
    card: Card
    tp: int = 1
    pp: int = 1
    dp: int = 1
    ep: int = 1
    dp_attention: bool = False
    nnodes: int = 1
    node: int = 0
    flags: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    effective: Mapping[str, object] = field(default_factory=dict)
    mamba_slots: int = 0
    """State slots of a hybrid model with linear attention; 0 for a model with one KV pool."""
    graphs_off: bool = False
    """Decode graphs switched off by something else than the flag."""

    @property
    def gpus_per_node(self) -> int:
        replicas = 1 if self.dp_attention else self.dp
        return self.tp * self.pp * replicas // self.nnodes

    @property
    def decode_graphs(self) -> bool:
        return not (self.graphs_off or "--disable-cuda-graph" in self.flags)

    @property
    def prefill_graphs(self) -> bool:
        """Whether prefill is captured: piecewise 0.5.10-0.5.13, breakable from 0.5.15; never under PP here."""
        plain = self.pp == 1 and not self.dp_attention and self.ep == 1 and self.decode_graphs
        plain = plain and "--speculative-algorithm" not in self.flags and not self.mamba_slots
        captured = since(self.version, "0.5.15") or (
            since(self.version, "0.5.10") and not since(self.version, "0.5.14")
        )
        return plain and captured

    @property
    def sizes(self) -> list[int]:
        """Captured decode batch sizes."""
        for flag in ("--cuda-graph-bs", "--cuda-graph-bs-decode"):
            if flag in self.flags:
                return [int(size) for size in self.flags[flag].split()]
        for flag in ("--cuda-graph-max-bs", "--cuda-graph-max-bs-decode"):
            if flag in self.flags:
                return graph_sizes(int(self.flags[flag]))
        return graph_sizes(default_graph_max_bs(self.version, self.card.memory_gib, self.tp))

    def launch(self) -> str:
        """The launch command, environment assignments first."""
        words = [f"{name}={shlex.quote(value)}" for name, value in self.env.items()]
        words += ["python", "-m", "sglang.launch_server", "--model-path", self.model.path]
        words += ["--tp-size", str(self.tp)] if self.tp > 1 else []
        words += ["--pp-size", str(self.pp)] if self.pp > 1 else []
        words += ["--dp-size", str(self.dp)] if self.dp > 1 else []
        words += ["--ep-size", str(self.ep)] if self.ep > 1 else []
        words += ["--enable-dp-attention"] if self.dp_attention else []
        if self.nnodes > 1:
            words += ["--nnodes", str(self.nnodes), "--node-rank", str(self.node), "--dist-init-addr", "head-node:5000"]
        for flag, value in self.flags.items():
            words += [flag, *shell_words(value)]
        return " ".join([*words, "--host", "0.0.0.0", "--port", "30000"])

    def requested(self) -> dict[str, object]:
        """Arguments as the launch command gives them, by field name."""
        given: dict[str, object] = {}
        for flag, value in self.flags.items():
            dest = flag.removeprefix("--").replace("-", "_")
            given[_DEST.get(dest, dest)] = field_value(value)
        return given

    def arguments(self) -> dict[str, object]:
        """Arguments as resolved, by field name."""
        args = defaults(self.version)
        args.update(model_path=self.model.path, tokenizer_path=self.model.path, served_model_name=self.model.path)
        args.update(tp_size=self.tp, pp_size=self.pp, dp_size=self.dp, ep_size=self.ep, nnodes=self.nnodes)
        args.update(enable_dp_attention=self.dp_attention, node_rank=self.node, chunked_prefill_size=self._chunk())
        args.update(attention_backend=self._attention(), mem_fraction_static=self._fraction())
        if self.nnodes > 1:
            args["dist_init_addr"] = "head-node:5000"
        if self.pp > 1:
            args["disable_overlap_schedule"] = True
        args.update(self.requested())
        if self.dp_attention:
            args["chunked_prefill_size"] = int(str(args["chunked_prefill_size"])) // self.dp
            args["schedule_conservativeness"] = round(float(str(args["schedule_conservativeness"])) * 0.3, 4)
        self._graph_arguments(args)
        args.update(self.effective)
        return args

    def _graph_arguments(self, args: dict[str, object]) -> None:
        if since(self.version, "0.5.14"):
            args["cuda_graph_config"] = GraphConfig.of(
                self.version, self.decode_graphs, self.sizes, self._prefill_max()
            )
            return
        args["cuda_graph_max_bs"] = self.sizes[-1]
        if self.graphs_off:
            args["disable_cuda_graph"] = True

    def _prefill_max(self) -> int:
        return min(self._chunk(), 8192) if self.prefill_graphs else 0

    def _chunk(self) -> int:
        memory = self.card.memory_gib
        if memory < 35:
            return 4096 if since(self.version, "0.5.20") else 2048
        if memory < 60:
            return 4096 if since(self.version, "0.5.2") else 8192
        return 8192 if memory < 160 else 16384

    def _attention(self) -> str:
        if self.card.arch == "sm90":
            return "fa3"
        if self.card.arch == "sm100":
            return "trtllm_mla" if self.model.mla else "trtllm_mha"
        return "triton" if self.model.mla and self.card.arch == "sm120" else "flashinfer"

    def _fraction(self) -> float:
        reserve_mib = 512 + 1.5 * max(self._chunk(), 2048) + 2 * self.sizes[-1] + self.tp * self.pp / 8 * 1024
        if self.card.memory_gib > 60:
            reserve_mib = max(reserve_mib, 10240)
        return round(1 - reserve_mib / self.card.memory_mib, 3)

    def ranks(self) -> Iterator[Rank]:
        """Every scheduler of this node, in start order."""
        stages = range(self.pp)
        if self.nnodes > 1 and self.pp >= self.nnodes:
            each = self.pp // self.nnodes
            stages = range(self.node * each, (self.node + 1) * each)
        for dp in range(self.dp) if self.dp > 1 and not self.dp_attention else (None,):
            for pp in stages:
                for tp in self._tensor_ranks():
                    replica = tp * self.dp // self.tp if self.dp_attention else dp
                    yield Rank(pp, tp, tp * self.ep // self.tp, replica)

    def _tensor_ranks(self) -> range:
        if self.nnodes <= self.pp:
            return range(self.tp)
        each = self.tp * self.pp // self.nnodes
        return range(self.node * each % self.tp, self.node * each % self.tp + each)

    def tags(self, rank: Rank) -> str:
        """The rank tags of a log line's prefix, in this version's order."""
        dp = f" DP{rank.dp}" if rank.dp is not None else ""
        tp = f" TP{rank.tp}" if self.tp > 1 else ""
        pp = f" PP{rank.pp}" if self.pp > 1 else ""
        ep = f" EP{rank.ep}" if self.ep > 1 and since(self.version, "0.4.10") else ""
        return dp + pp + tp + ep if since(self.version, "0.5.6") else dp + tp + ep + pp


def batch_ranks(server: Server) -> list[Rank]:
    """The ranks that print batch lines: attention-TP rank 0 of every stage and data-parallel rank."""
    each = server.tp // server.dp if server.dp_attention else server.tp
    return [rank for rank in server.ranks() if rank.tp % each == 0]
