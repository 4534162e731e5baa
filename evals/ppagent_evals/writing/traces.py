"""Profiler traces of a pipeline's ranks, as PyTorch writes them for a card, out of a small model of the ring.

Nobody measured these: marks, fields and categories are those of real traces, the times are the model's.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ppagent_evals.writing.versions import since

Event = dict[str, object]

BEGIN_US = 5134764594000.0
HOP_MS = 0.03
LAUNCH_US = 2.4
KERNELS = (
    "nvjet_tst_128x8_64x12_2x1_v_bz_TNT",
    "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*, float)",
    "void flash::flash_fwd_splitkv_mla_kernel<cutlass::bfloat16_t>(Flash_fwd_mla_params)",
    "fused_moe_kernel",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>>(int)",
)
SEND_RECEIVE = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


@dataclass(frozen=True)
class Ring:
    """A pipeline that decodes. Times of a stage are what its card computes for one micro-batch."""

    stages_ms: tuple[float, ...]
    filled: int
    steps: int
    """Forwards that each stage's trace holds."""
    version: str = "0.5.12"
    graph: bool | Mapping[int, bool] = True
    """Whether a forward is a graph launch; by requests of its micro-batch where it depends on them."""
    batches: tuple[int, ...] = (4,)
    """Requests of the micro-batches, in turn."""
    kernels: int = 24
    """Of one forward."""
    launch_us: float = 6.0
    """From one launch to the next where kernels are launched one by one."""
    scheduling_ms: float = 0.3
    """The host's work between two forwards of a stage, when its card has nothing else to do."""
    return_ms: float = 0.2
    """From the last stage's end until the first may go on with the same requests."""
    prefills: int = 0
    """Of the forwards, the first ones that are prefills, always launched kernel by kernel."""
    collective_share: float = 0.0
    """Share of a stage's time that goes to all-reduces."""
    profile: str = "1784200000.25"
    card: str = "NVIDIA RTX PRO 6000 Blackwell Server Edition"
    tp: int = 1

    def from_graph(self, batch: int) -> bool:
        return self.graph.get(batch, False) if isinstance(self.graph, Mapping) else self.graph

    @property
    def launching_ms(self) -> float:
        """How long it takes to launch a forward kernel by kernel."""
        return self.kernels * self.launch_us / 1000

    def file_name(self, stage: int, tp: int = 0) -> str:
        pipeline = f"-PP-{stage}" if len(self.stages_ms) > 1 and since(self.version, "0.5.4") else ""
        return f"{self.profile}-TP-{tp}{pipeline}.trace.json.gz"


@dataclass(frozen=True)
class Forward:
    """One forward of one stage: when the host begins with it, when its card begins, and its work (ms)."""

    host: float
    begin: float
    work: float
    """How long its kernels take, one after the other."""
    batch: int
    decodes: bool
    idle_from: float
    """From when on the card had nothing else to do."""


def traces(ring: Ring) -> dict[str, str]:
    """Every rank's trace by the name of its file, before it is packed."""
    ranks = [(stage, tp) for stage in range(len(ring.stages_ms)) for tp in range(ring.tp)]
    return {ring.file_name(stage, tp): trace(ring, stage, tp) for stage, tp in ranks}


def trace(ring: Ring, stage: int, tp: int = 0) -> str:
    """One rank's trace, an event a line."""
    writer = _Writer(ring, stage * ring.tp + tp)
    for forward in _schedule(ring)[stage]:
        writer.forward(forward, stage)
    return writer.text()


def _schedule(ring: Ring) -> list[list[Forward]]:
    """When each stage runs each of its forwards: a micro-batch goes round, and a stage has one at a time."""
    count = len(ring.stages_ms)
    found: list[list[Forward]] = [[] for _ in range(count)]
    back = [slot * 0.01 for slot in range(ring.filled)]
    free = [0.0] * count
    for number in range(ring.steps):
        slot = number % ring.filled
        batch, decodes = ring.batches[number % len(ring.batches)], number >= ring.prefills
        ready = back[slot]
        for stage in range(count):
            host = max(ready, free[stage])
            begin, work = host + ring.scheduling_ms, ring.stages_ms[stage] * (1.0 if decodes else 6.0)
            found[stage].append(Forward(host, begin, work, batch, decodes, free[stage]))
            end = begin + max(work, 0.0 if decodes and ring.from_graph(batch) else ring.launching_ms)
            ready, free[stage] = end + HOP_MS, end
        back[slot] = ready + ring.return_ms
    return found


@dataclass
class _Writer:
    ring: Ring
    rank: int
    events: list[Event] = field(default_factory=list)
    correlation: int = 0

    def forward(self, forward: Forward, stage: int) -> None:
        ring = self.ring
        eager = not (forward.decodes and ring.from_graph(forward.batch))
        host_us, begin_us, each_us = 1000 * forward.host, 1000 * forward.begin, 1000 * forward.work / ring.kernels
        launch_us = begin_us - 40.0
        took_us = ring.kernels * (ring.launch_us if eager else 0.0) + 60.0
        self._loop(host_us, launch_us, took_us)
        if since(ring.version, "0.5.11"):
            mode = "DECODE" if forward.decodes else "EXTEND"
            words = f"bs={forward.batch}" if forward.decodes else f"bs={forward.batch} toks={512 * forward.batch}"
            self._mark(f"step[{mode} {words}]", launch_us + 5, took_us - 10)
        if stage and len(ring.stages_ms) > 1 and forward.host > forward.idle_from + 0.05:
            self._kernel(SEND_RECEIVE, 1000 * forward.idle_from + 8, host_us - 4, stream=24)
        launched = self._eager if eager else self._graph
        launched(launch_us + 10, begin_us, each_us)

    def _loop(self, host_us: float, launch_us: float, took_us: float) -> None:
        """The pipeline's loop marks what it does from 0.5.7 on, the scheduler its methods from 0.5.14 on."""
        free_us, pipeline = launch_us - host_us, len(self.ring.stages_ms) > 1
        for name, at_us, lasts_us in (
            ("recv_requests", host_us, 0.1 * free_us),
            ("get_next_batch_to_run", host_us + 0.1 * free_us, 0.4 * free_us),
            ("process_batch_result", host_us + 0.5 * free_us, 0.45 * free_us),
            ("run_batch", launch_us, took_us),
        ):
            if pipeline and since(self.ring.version, "0.5.7"):
                self._mark(name, at_us, lasts_us)
            if since(self.ring.version, "0.5.14"):
                self._mark(f"scheduler.{name}", at_us + 0.1, lasts_us - 0.2)
        if pipeline and since(self.ring.version, "0.5.7"):
            self._mark("recv_res_dict_from_prev_stage", launch_us + took_us + 3, 30.0)

    def _graph(self, launch_us: float, begin_us: float, each_us: float) -> None:
        number = self._call("cudaGraphLaunch", launch_us, 22.0)
        for place in range(self.ring.kernels):
            begin = begin_us + place * each_us
            self._kernel(self._name(place), begin, begin + each_us - 0.2, correlation=number)

    def _eager(self, launch_us: float, begin_us: float, each_us: float) -> None:
        """A kernel starts when it was launched and the one before it is done."""
        done = begin_us
        for place in range(self.ring.kernels):
            at = launch_us + place * self.ring.launch_us
            self._op("aten::mm" if place % 2 else "aten::copy_", at - 1.5, 5.0)
            number = self._call("cudaLaunchKernel", at, LAUNCH_US)
            start = max(done, at + 4.0)
            done = start + each_us - 0.2
            self._kernel(self._name(place), start, done, correlation=number)

    def _name(self, place: int) -> str:
        together = place < self.ring.collective_share * self.ring.kernels
        return ALL_REDUCE if together else KERNELS[place % len(KERNELS)]

    def _kernel(self, name: str, begin_us: float, end_us: float, *, stream: int = 7, correlation: int = 0) -> None:
        args: Event = {
            "External id": correlation, "queued": 0, "device": self.rank, "context": 1, "stream": stream,
            "correlation": correlation, "registers per thread": 96, "shared memory": 32768, "blocks per SM": 0.7,
            "warps per SM": 5.6, "grid": [132, 1, 1], "block": [256, 1, 1], "est. achieved occupancy %": 9,
        }  # fmt: skip
        self._add("kernel", name, begin_us, end_us - begin_us, self.rank, stream, args)

    def _call(self, name: str, at_us: float, took_us: float) -> int:
        self.correlation += 1
        args: Event = {"External id": self.correlation, "cbid": 211, "correlation": self.correlation}
        self._add("cuda_runtime", name, at_us, took_us, 4100 + self.rank, 4100 + self.rank, args)
        return self.correlation

    def _op(self, name: str, at_us: float, took_us: float) -> None:
        args: Event = {"External id": self.correlation, "Sequence number": 0, "Fwd thread id": 0}
        self._add("cpu_op", name, at_us, took_us, 4100 + self.rank, 4100 + self.rank, args)

    def _mark(self, name: str, at_us: float, took_us: float) -> None:
        args: Event = {"External id": self.correlation}
        self._add("user_annotation", name, at_us, took_us, 4100 + self.rank, 4100 + self.rank, args)
        self._add("gpu_user_annotation", name, at_us + 20, took_us, self.rank, 7, args)

    def _add(
        self, category: str, name: str, at_us: float, took_us: float, process: int, thread: int, args: Event
    ) -> None:
        event: Event = {
            "ph": "X", "cat": category, "name": name, "pid": process, "tid": thread,
            "ts": round(BEGIN_US + at_us, 3), "dur": round(max(took_us, 0.0), 3), "args": args,
        }  # fmt: skip
        self.events.append(event)

    def text(self) -> str:
        return "".join(trace_text(self.events, self.ring, self.rank))


def trace_text(events: list[Event], ring: Ring, rank: int) -> Iterator[str]:
    """A whole trace in pieces: what stands before the events, the events, what stands after them."""
    world = len(ring.stages_ms) * ring.tp
    device = {"id": rank, "name": ring.card, "computeMajor": 12, "computeMinor": 0, "numSms": 188}
    yield '{\n"schemaVersion": 1,\n'
    yield f'"deviceProperties": {json.dumps([device])},\n'
    if world > 1:
        group = {"backend": "nccl", "rank": rank, "world_size": world, "pg_count": 3, "nccl_version": "2.27.3"}
        yield f'"distributedInfo": {json.dumps(group)},\n'
    yield '"displayTimeUnit": "ms",\n"baseTimeNanoseconds": 1778972400000000000,\n"traceEvents": [\n'
    yield ",\n".join(json.dumps(event) for event in events)
    yield f'\n],\n"traceName": "{ring.file_name(rank // ring.tp, rank % ring.tp)}"\n}}\n'
