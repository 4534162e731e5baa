"""What a stage holds: layers, weights, KV pool and running cap, by SGLang's own arithmetic."""

from dataclasses import dataclass

from ppagent_evals.writing.server import Server
from ppagent_evals.writing.versions import since


def split(version: str, layers: int, stages: int) -> list[int]:
    """Layers of each stage by default (sglang distributed/utils.py: get_pp_indices)."""
    base, rest = divmod(layers, stages)
    if since(version, "0.5.6"):
        return [base + (stage >= stages - rest) for stage in range(stages)]
    return [base] * (stages - 1) + [base + rest]


@dataclass(frozen=True)
class Memory:
    """Memory of one deployment, per stage, in GiB (SGLang prints GB)."""

    server: Server
    layers: list[int]

    @classmethod
    def of(cls, server: Server) -> "Memory":
        given = server.env.get("SGLANG_PP_LAYER_PARTITION")
        layers = [int(n) for n in given.split(",")] if given else split(server.version, server.model.layers, server.pp)
        return cls(server, layers)

    def before_gib(self) -> float:
        return self.server.card.memory_gib - 1.1

    def weights_gib(self, stage: int) -> float:
        model = self.server.model
        per_layer = (model.weights_gib - 2 * model.head_gib) / model.layers
        ends = (stage == 0) + (stage == self.server.pp - 1)
        return (per_layer * self.layers[stage] + model.head_gib * ends) / self.server.tp

    def after_load_gib(self, stage: int) -> float:
        return self.before_gib() - self.weights_gib(stage) - 0.12

    def cell_bytes(self, stage: int) -> float:
        """KV bytes of one token on one GPU of `stage`."""
        model = self.server.model
        width = 1 if "fp8" in str(self.server.arguments()["kv_cache_dtype"]) else 2
        if model.mla:
            return 576.0 * width * self.layers[stage]
        attention_tp = self.server.tp // self.server.dp if self.server.dp_attention else self.server.tp
        return 2.0 * max(model.kv_heads / attention_tp, 1) * model.head_dim * width * self.layers[stage]

    def tokens(self) -> int:
        """Tokens of the KV pool: the smallest over the stages."""
        args = self.server.arguments()
        if args["max_total_tokens"] is not None:
            return int(str(args["max_total_tokens"]))
        free = 1 - float(str(args["mem_fraction_static"]))
        pools = [
            (self.after_load_gib(stage) - self.server.card.memory_gib * free) * 2**30 / self.cell_bytes(stage)
            for stage in range(self.server.pp)
        ]
        return int(min(pools)) // 64 * 64

    def kv_gib(self, stage: int) -> float:
        return self.tokens() * self.cell_bytes(stage) / 2**30

    def after_pool_gib(self, stage: int) -> float:
        return self.after_load_gib(stage) - self.kv_gib(stage) - 0.18

    def graph_gib(self, stage: int) -> float:
        share = self.layers[stage] / max(self.server.model.layers, 1)
        return round(0.12 + 0.035 * len(self.server.sizes) * share, 2) if self.server.decode_graphs else 0.0

    def used_mib(self, stage: int) -> int:
        """Memory in use on a GPU of `stage` once the server serves."""
        free = self.after_pool_gib(stage) - self.graph_gib(stage) - 0.6
        return int((self.server.card.memory_gib - max(free, 0.5)) * 1024)

    def max_running(self) -> int:
        """Running cap of one scheduler."""
        tokens, context = self.tokens(), self.context_len()
        estimate = min(max(int(tokens / context * 512), 2048), 4096)
        wanted = self.server.arguments()["max_running_requests"]
        if wanted is None:
            return min(tokens // 2, estimate)
        ranks = self.server.dp if self.server.dp_attention else 1
        bound = tokens // 2 if since(self.server.version, "0.5.14") else estimate
        if self.server.mamba_slots:
            bound = min(bound, self.server.mamba_slots // 3)
        return min(int(str(wanted)) // ranks, bound)

    def context_len(self) -> int:
        wanted = self.server.arguments()["context_length"]
        return self.server.model.context_len if wanted is None else int(str(wanted))

    def slot_limit(self) -> int:
        args = self.server.arguments()
        asked = args.get("pp_max_micro_batch_size", args.get("max_micro_batch_size"))
        return max(self.max_running() // self.server.pp, 1) if asked is None else int(str(asked))
