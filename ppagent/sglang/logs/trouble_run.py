"""Kinds of trouble while serving: memory, crashes, watchdogs, grammar, live changes; and exceptions of any kind."""

from ppagent.sglang.logs.trouble import TroubleKind

RUN_KINDS: tuple[TroubleKind, ...] = (
    TroubleKind(
        id="expert_balancedness",
        severity="info",
        marks=(b"[Expert Balancedness]",),
        pattern=r"current_pass_balancedness=(?P<current>[\d.]+)(?:.*?_average_balancedness=(?P<average>[\d.]+))?",
        note="Mean load of the experts' ranks over the fullest one's; 1 is even (eplb/expert_distribution.py, 0.5.10).",
        harmless=True,
    ),
    TroubleKind(
        id="kv_pool_full",
        severity="warning",
        marks=(b"KV cache pool is full. Retract requests.",),
        pattern=r"#retracted_reqs: (?P<retracted>\d+)(?:.*?#aborted_retracted_reqs: (?P<aborted>\d+))?"
        r"(?:.*?#new_tokens_gained: (?P<gained_tokens>\d+))?"
        r"(?:.*?#new_token_ratio: (?P<ratio_before>[\d.]+) -> (?P<ratio_after>[\d.]+))?",
        note="No KV left for the next decode step: running requests were thrown back and compute their prompt again.",
        counted="retracted",
    ),
    TroubleKind(
        id="retract_failed",
        severity="error",
        marks=(b"Failed to retract any request", b"Out of memory even after retracting"),
        pattern=r"Failed to retract any request|Out of memory even after retracting",
        note="One request alone does not fit the KV pool: up to 0.5.7 the server stops, later the request is aborted.",
    ),
    TroubleKind(
        id="memory_leak",
        severity="fatal",
        marks=(b"memory leak detected", b"Mem Leak Detected"),
        pattern=r"(?P<pool>\w+)? ?[Mm]em(?:ory)? [Ll]eak [Dd]etected",
        note="The idle check found KV slots that nobody owns: a defect of that version.",
    ),
    TroubleKind(
        id="peer_access_failed",
        severity="fatal",
        marks=(b"peer access is not supported", b"peer access is already enabled"),
        pattern=r"(?P<reason>peer access is [^.]*)",
        note="Direct GPU-to-GPU access was assumed and is not there; custom all-reduce needs it.",
    ),
    TroubleKind(
        id="cuda_oom",
        severity="fatal",
        marks=(b"out of memory. Tried to allocate", b"OutOfMemoryError", b"CUDA error: out of memory"),
        pattern=r"[Oo]ut of memory(?:\. Tried to allocate (?P<tried>[\d.]+ \w+))?"
        r"(?:.*?GPU (?P<gpu>\d+) has a total capacity of (?P<total>[\d.]+ \w+) of which (?P<free>[\d.]+ \w+) is free)?",
        note="A GPU ran out of memory outside the pools: activations, graphs, NCCL or another tenant.",
    ),
    TroubleKind(
        id="cuda_error",
        severity="fatal",
        marks=(b"CUDA error: ", b"CUBLAS_STATUS_", b"HIP error: "),
        pattern=r"(?:CUDA|HIP) error: (?P<reason>.*)|(?P<status>CUBLAS_STATUS_\w+)",
        note="A kernel failed; the line that follows it in time is often only a consequence.",
    ),
    TroubleKind(
        id="nan_logits",
        severity="error",
        marks=(b"NaN in the logits",),
        pattern=r"NaN in the logits",
        note="Sampling met NaN: wrong scales or kernel, or broken hardware.",
    ),
    TroubleKind(
        id="soft_watchdog",
        severity="error",
        marks=(b"atchdog timeout",),
        pattern=r"(?P<process>\w+)? ?[Ww]atchdog timeout "
        r"\(self\.watchdog_timeout=(?P<timeout_s>[\d.]+), self\.soft=True",
        note="A step took longer than the soft limit; stacks were dumped and serving went on (0.5.7+).",
    ),
    TroubleKind(
        id="watchdog_timeout",
        severity="fatal",
        marks=(b"atchdog timeout",),
        pattern=r"(?P<process>\w+)? ?[Ww]atchdog timeout \(self\.watchdog_timeout=(?P<timeout_s>[\d.]+)",
        note="A step hung and the server stops. The rank that prints this waited; the guilty one fell silent first.",
    ),
    TroubleKind(
        id="scheduler_exception",
        severity="fatal",
        marks=(b" hit an exception: ",),
        pattern=r"(?P<process>\w+) hit an exception: (?P<reason>.*)",
        note="A process of the server ended with the traceback that follows.",
    ),
    TroubleKind(
        id="child_died",
        severity="fatal",
        marks=(b"igquit from a child", b"SIGQUIT received", b"Received SIGQUIT", b"crashed with exit code"),
        pattern=r"Subprocess (?P<process>\S+) \(pid=(?P<pid>\d+)\) crashed with exit code (?P<exit_code>-?\d+)"
        r"|[Ss]igquit from a child|SIGQUIT",
        note="The launcher saw a child die. The cause stands above it; exit code -9 is the kernel's doing.",
    ),
    TroubleKind(
        id="killed",
        severity="fatal",
        marks=(b"Killed process", b"oom-kill"),
        pattern=r"Out of memory: Killed process (?P<pid>\d+) \((?P<process>[^)]*)\)|oom-kill",
        note="The kernel killed a process for want of host memory.",
    ),
    TroubleKind(
        id="health_check_failed",
        severity="warning",
        marks=(b"Health check failed",),
        pattern=r"Health check failed\. (?P<reason>.*)",
        note="No token came back in time for the probe: hung, or busy with long prefills.",
    ),
    TroubleKind(
        id="set_internal_refused",
        severity="warning",
        marks=(b"Updating ",),
        pattern=r"Updating (?P<key>\w+)(?: to (?P<value>\S+))? is "
        r"(?:not supported|rejected.*?valid range \[1, (?P<maximum>\d+)\])",
        note="A live change was refused, whatever the HTTP answer said (up to 0.5.14 it always says true).",
    ),
    TroubleKind(
        id="set_internal_ok",
        severity="info",
        marks=(b"Global server args updated!", b"Config updated via context override"),
        pattern=r"(?:updated!|override:)(?:.*?\b(?:pp_)?max_micro_batch_size'?[=:] ?(?P<slot_limit>\d+))?",
        note="A live change took effect.",
    ),
    TroubleKind(
        id="flush_refused",
        severity="info",
        marks=(b"Cache not flushed because",),
        pattern=r"Cache not flushed because (?P<reason>.*)",
        note="Requests were running, so the cache was kept.",
    ),
    TroubleKind(
        id="grammar_timeout",
        severity="error",
        marks=(b"Grammar preprocessing timed out",),
        pattern=r"Grammar preprocessing timed out",
        note="A schema took too long to compile; its request is aborted.",
    ),
    TroubleKind(
        id="grammar_failed",
        severity="warning",
        marks=(b"Grammar accept_token", b"Grammar compilation", b"Hit invalid grammar", b"Grammar backend disabled"),
        pattern=r"Grammar accept_token failed|Grammar compilation (?:failed|raised)|Hit invalid grammar"
        r"|Grammar backend disabled",
        note="Structured output could not be enforced for a request, or at all.",
    ),
)

GENERIC_KINDS: tuple[TroubleKind, ...] = (
    TroubleKind(
        id="client_gone",
        severity="info",
        marks=(b"is disconnected from the client side",),
        pattern=r"Request is disconnected from the client side \(type (?P<where>\d)\)",
        note="A client left before its answer was whole; its request is given up (tokenizer_manager.py, 0.5.0-0.5.23).",
        harmless=True,
    ),
    TroubleKind(
        id="assertion",
        severity="error",
        marks=(b"AssertionError",),
        pattern=r"^(?:\[rank\d+\]: ?)?AssertionError(?:: (?P<message>.*))?$",
        note="An assertion failed.",
    ),
    TroubleKind(
        id="value_error",
        severity="error",
        marks=(b"ValueError: ",),
        pattern=r"^(?:\[rank\d+\]: ?)?ValueError: (?P<message>.*)",
        note="A ValueError ended something.",
    ),
    TroubleKind(
        id="runtime_error",
        severity="error",
        marks=(b"RuntimeError: ",),
        pattern=r"^(?:\[rank\d+\]: ?)?(?:\w+\.)*RuntimeError: (?P<message>.*)",
        note="A RuntimeError ended something.",
    ),
    TroubleKind(
        id="exception",
        severity="error",
        marks=(b"Error: ", b"Exception: "),
        pattern=r"^(?:\[rank\d+\]: ?)?(?P<type>(?:\w+\.)*[A-Z]\w*(?:Error|Exception)): (?P<message>.*)",
        note="An exception of another type.",
    ),
)
