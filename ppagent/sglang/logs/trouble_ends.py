"""Kinds of lines that tell where in its life a server was when it stopped: capture, start, loop, a wait between stages.

They stand before all others, since such a line often holds the words of a general kind as well: a failed capture quotes
the memory error it failed of.
"""

from ppagent.sglang.logs.trouble import TroubleKind

END_KINDS: tuple[TroubleKind, ...] = (
    TroubleKind(
        id="capture_failed",
        severity="fatal",
        marks=(b"graph failed: ", b"draft extend failed: "),
        pattern=r"Capture (?P<what>[\w -]+?) failed: (?P<message>.*)",
        note="Graph capture failed: no memory, or an operation that cannot be captured.",
    ),
    TroubleKind(
        id="draft_is_target",
        severity="fatal",
        marks=(b"object has no attribute 'set_embed", b"object has no attribute 'hot_token_id"),
        pattern=r"AttributeError: '(?P<model>\w+)' object has no attribute '(?P<wanted>set_embed\w*|hot_token_id)'",
        note="The draft was loaded from a checkpoint that is no draft: the target's own where no draft path was given.",
    ),
    TroubleKind(
        id="raised_at_start",
        severity="error",
        marks=(
            b"scheduler = Scheduler(",
            b", in init",
            b"self.init_",
            b", in _init_model_runner",
            b", in load_model",
            b", in capture_one_batch_size",
            b", in register_graph_buffers",
        ),
        pattern=r"^\s*(?P<step>scheduler = Scheduler)\(|^\s*self\.(?P<call>init_\w*cuda_graphs|init_device_graphs)\(\)$"
        r"|^\s*File \"[^\"]*sglang/srt/[^\"]*\", line \d+, in (?P<frame>init_torch_distributed"
        r"|initialize_model_parallel|_?init_model_(?:worker|runner)|init_tp_model_worker|load_model|init_memory_pool"
        r"|init_\w*cuda_graphs|init_device_graphs|capture_one_batch_size|register_graph_buffers)$",
        note="A frame of a traceback: the exception was raised while the server was built.",
    ),
    TroubleKind(
        id="raised_at_work",
        severity="error",
        marks=(b"scheduler.event_loop_", b", in event_loop_", b"scheduler.run_event_loop(", b"in forward_thread_func"),
        pattern=r"^\s*scheduler\.(?P<loop>event_loop_\w+|run_event_loop)\("
        r"|^\s*File \"[^\"]*sglang/srt/[^\"]*\", line \d+, in (?P<frame>event_loop_\w+|forward_thread_func_?)$",
        note="A frame of a traceback: the exception was raised in the scheduler's loop, so the server was built.",
    ),
    TroubleKind(
        id="assert_line",
        severity="error",
        marks=(b"  assert ",),
        pattern=r"^\s{2,}assert (?P<condition>[^(\s].{2,159})$",
        note="The source line of a traceback at which an assertion failed: often all that an AssertionError says.",
    ),
    TroubleKind(
        id="stage_waits",
        severity="error",
        marks=(b"_pp_recv_", b"event_loop_pp"),
        pattern=r"^\s+(?P<call>_pp_recv_\w+|event_loop_pp\w*) \(\S*scheduler_pp_mixin\.py:\d+\)",
        note="A frame of a py-spy dump: this rank stands in the pipeline's loop, in a receive for want of a message.",
    ),
    TroubleKind(
        id="watchdog_dump",
        severity="error",
        marks=(b"Scheduler debug info:", b"yspy dump for PID", b"yspy failed to dump PID", b"yspy failed ("),
        pattern=r"^Scheduler debug info:|Pyspy dump for PID (?P<pid>\d+)|Pyspy failed",
        note="A watchdog wrote down what a rank was at, because a step took too long.",
    ),
)
"""Read in `scheduler.py: run_scheduler_process`, `model_runner.py`, `scheduler_pp_mixin.py` and `watchdog.py`, 0.4.7 to
0.5.23."""
