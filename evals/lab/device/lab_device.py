"""An emulated device for each pipeline stage: the host launches and goes on, the work takes the time a GPU would take.

A virtual clock per stage (CLOCK_MONOTONIC, which all processes of a host share) says when work would be done:

    start  = latest of: launch begun, device free, hidden states arrived
    done   = start + stage time, and never before the host has finished launching

`done` travels with the hidden states to the next stage and with the sampled tokens round the ring. A rank sleeps only
where SGLang waits for its device: at the event behind the tokens that came back. So host and device overlap, requests
clump, depth and host overhead matter, as they do on a GPU. What it cannot show: kernels, memory traffic, contention.

Every list has one value a stage, the last one serves the rest:

    LAB_STAGE_MS          every forward
    LAB_STAGE_MS_PER_REQ  and for each request of a decode micro-batch
    LAB_STAGE_MS_PER_TOK  and for each token of a prefill
    LAB_LAUNCH_MS         the host's own time to launch a forward kernel by kernel (it sleeps: no core is burnt)
    LAB_REPLAY_MS         the same for a decode step that is replayed as a CUDA graph; unset: there are no graphs
    LAB_HOP_MS            one hop between stages
    LAB_RETURN_MS         the hop that brings the tokens from the last stage back to the first

Looked at for SGLang 0.5.10 and 0.5.23: srt/model_executor/model_runner.py (ModelRunner.forward) and
srt/managers/scheduler_pp_mixin.py. Another version needs its own look.
"""

import inspect
import os
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

READY = "lab_ready_at"


def _by_stage(name: str, default: str = "0") -> Callable[[int], float]:
    values = [float(value) for value in os.environ.get(name, default).split(",")]
    return lambda stage: values[min(stage, len(values) - 1)]


class Device:
    """One stage's clock, in seconds of CLOCK_MONOTONIC."""

    def __init__(self) -> None:
        self.free_at = 0.0
        self.arrival = 0.0

    def run(self, launched_at: float, seconds: float) -> None:
        start = max(launched_at, self.free_at, self.arrival)
        self.free_at = max(start + seconds, time.monotonic())
        self.arrival = 0.0


class TokensReady:
    """Stands before the event of the returned tokens: waiting takes until the last stage would have made them."""

    def __init__(self, event: Any, ready_at: float) -> None:
        self._event, self._ready_at = event, ready_at

    def synchronize(self) -> None:
        self._event.synchronize()
        left = self._ready_at - time.monotonic()
        if left > 0:
            time.sleep(left)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._event, name)


device = Device()
hop_s = float(os.environ.get("LAB_HOP_MS", "0.05")) / 1000
return_s = float(os.environ.get("LAB_RETURN_MS", os.environ.get("LAB_HOP_MS", "0.05"))) / 1000


def time_forwards(module: ModuleType) -> None:
    """Every forward of `ModelRunner` keeps its results and takes the stage's time."""
    base, per_request, per_token = (_by_stage("LAB_STAGE_MS" + part) for part in ("", "_PER_REQ", "_PER_TOK"))
    launch, replay = _by_stage("LAB_LAUNCH_MS"), _by_stage("LAB_REPLAY_MS")
    has_graphs = "LAB_REPLAY_MS" in os.environ
    real = module.ModelRunner.forward

    def forward(self: Any, batch: Any, *args: Any, **kwargs: Any) -> Any:
        launched_at = time.monotonic()
        output = real(self, batch, *args, **kwargs)
        stage, decodes = self.pp_group.rank_in_group, batch.forward_mode.is_decode()
        replayed = has_graphs and decodes
        time.sleep((replay if replayed else launch)(stage) / 1000)
        work = per_request(stage) * batch.batch_size if decodes else per_token(stage) * int(batch.input_ids.shape[0])
        device.run(launched_at, (base(stage) + work) / 1000)
        if replayed:
            output.can_run_graph = True
        return output

    module.ModelRunner.forward = forward


def carry_device_time(module: ModuleType) -> None:
    """Sends the virtual time along with hidden states and sampled tokens."""
    if not os.environ.get("LAB_STAGE_MS"):
        return
    import torch

    mixin = module.SchedulerPPMixin
    receive, prepare = mixin._pp_recv_proxy_tensors, mixin._pp_prepare_tensor_dict
    exchange = mixin._pp_commit_send_output_work_and_preprocess_output_tensors

    def stamp() -> Any:
        return torch.tensor([device.free_at], dtype=torch.float64)

    def receive_hidden(self: Any) -> Any:
        proxy = receive(self)
        if proxy is not None and READY in proxy.tensors:
            device.arrival = float(proxy.tensors.pop(READY)[0]) + hop_s
        return proxy

    def prepare_tokens(self: Any, result: Any, batch: Any) -> Any:
        tensors = prepare(self, result, batch)
        tensors[READY] = stamp()
        return tensors

    def exchange_tokens(self: Any, *args: Any, **kwargs: Any) -> Any:
        outputs, result, event = exchange(self, *args, **kwargs)
        if outputs is not None and event is not None and READY in outputs.tensors:
            event = TokensReady(event, float(outputs.tensors[READY][0]) + return_s)
        return outputs, result, event

    mixin._pp_recv_proxy_tensors, mixin._pp_prepare_tensor_dict = receive_hidden, prepare_tokens
    mixin._pp_commit_send_output_work_and_preprocess_output_tensors = exchange_tokens
    _stamp_hidden_states(mixin, stamp)


def _stamp_hidden_states(mixin: Any, stamp: Callable[[], Any]) -> None:
    """0.5.23 has a method that sends hidden states; 0.5.10's loop sends the dictionary itself."""
    if hasattr(mixin, "_pp_send_proxy_to_next_stage"):
        send = mixin._pp_send_proxy_to_next_stage

        def send_proxy(self: Any, result: Any) -> Any:
            result.pp_hidden_states_proxy_tensors.tensors[READY] = stamp()
            return send(self, result)

        mixin._pp_send_proxy_to_next_stage = send_proxy
        return
    send_dict = mixin._pp_send_dict_to_next_stage

    def send_stamped(self: Any, tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("msg_type") == "proxy":
            tensors[READY] = stamp()
        return send_dict(self, tensors, *args, **kwargs)

    mixin._pp_send_dict_to_next_stage = send_stamped


def stand_in_for_cuda_events(module: ModuleType) -> None:
    """For versions whose loop names `torch.cuda` itself (0.5.10): events and streams that are always ready."""
    if "torch.cuda.Event()" not in inspect.getsource(module):
        return
    import torch

    class Ready:
        def __init__(self, *args: object, **kwargs: object) -> None: ...

        def synchronize(self) -> None: ...

        def query(self) -> bool:
            return True

        record = wait = wait_event = wait_stream = __init__

    torch.cuda.Event = Ready  # type: ignore[misc, assignment]
    torch.cuda.current_stream = lambda *args, **kwargs: Ready()  # type: ignore[assignment, return-value]
