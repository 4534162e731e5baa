import pytest
from tool_fakes import FakeTarget, box, facts_of, run

from ppagent.errors import NotRecorded, ToolError
from ppagent.plugins import ToolContext
from ppagent.targets.target import Artifact
from ppagent_tools.log_tap import LogTap
from ppagent_tools.logs import Decode, Prefill, Startup, Trouble, tools

ARGS = (
    "[2026-05-02 10:00:00] server_args=ServerArgs(model_path='/m', tp_size=1, pp_size=2, pp_async_batch_depth=0, "
    "pp_max_micro_batch_size=None, disable_cuda_graph=True, decode_log_interval=40, api_key='hunter22x')"
)


def at(second: int) -> str:
    return f"2026-05-02 10:{second // 60:02}:{second % 60:02}"


def decode(
    second: int, tags: str = "PP0", running: int = 3, queue: int = 0, graph: str = "False", rate: float = 95.0
) -> str:
    return (
        f"[{at(second)} {tags}] Decode batch, #running-req: {running}, #token: {running * 100}, token usage: 0.03, "
        f"cuda graph: {graph}, gen throughput (token/s): {rate:.2f}, #queue-req: {queue}"
    )


def prefill(second: int, tags: str = "PP0", new: int = 512, pending: int = 0) -> str:
    return (
        f"[{at(second)} {tags}] Prefill batch, #new-seq: 1, #new-token: {new}, #cached-token: 128, token usage: 0.01, "
        f"#running-req: 2, #queue-req: 0, #pending-token: {pending}, cuda graph: False, "
        "input throughput (token/s): 500.00"
    )


def log(*lines: str) -> FakeTarget:
    return box(server_log="".join(f"{line}\n" for line in lines))


START = (
    ARGS,
    "[2026-05-02 10:00:10 PP0] Load weight end. elapsed=9.0 s, type=X, avail mem=40.00 GB, mem usage=53.00 GB.",
    "[2026-05-02 10:00:11 PP1] Load weight end. elapsed=9.0 s, type=X, avail mem=30.00 GB, mem usage=63.00 GB.",
    "[2026-05-02 10:00:12 PP0] KV Cache is allocated. #tokens: 16384, K size: 1.00 GB, V size: 1.50 GB",
    "[2026-05-02 10:00:12 PP1] KV Cache is allocated. #tokens: 16384, K size: 1.00 GB, V size: 1.00 GB",
    "[2026-05-02 10:00:13 PP0] max_total_num_tokens=16384, chunked_prefill_size=8192, max_prefill_tokens=16384, "
    "max_running_requests=2048, context_len=4096, available_gpu_mem=9.00 GB",
    "[2026-05-02 10:00:14] The server is fired up and ready to roll!",
)


def test_the_start_tells_arguments_weights_pool_and_capacity() -> None:
    findings = run(Startup(), log(*START))
    facts = facts_of(findings)
    assert facts.number("args.pp_size") == 2
    assert facts.flag("args.disable_cuda_graph") is True
    assert facts.numbers("start.weights_gib") == {"PP0": 53, "PP1": 63}
    assert facts.numbers("start.kv_gib") == {"PP0": 2.5, "PP1": 2}
    assert facts.numbers("start.kv_tokens") == {"PP0": 16384, "PP1": 16384}
    assert facts.number("start.max_running_requests") == 2048
    assert facts.flag("start.ready") is True
    assert facts.flag("start.graph_captured") is False
    assert all(finding.authority == 2 for finding in findings)
    assert "hunter22x" not in str([facts.all(name) for name in facts])


def test_a_pool_that_is_made_after_graph_capture_counts_and_not_the_address_space_before() -> None:
    reserved = [line.replace("is allocated", "VA upper bound").replace("16384, K", "90000, K") for line in START[3:5]]
    late = "[2026-05-02 10:00:13 PP{}] Post-capture KV sizing: KV cache allocated. dtype: torch.bfloat16, "
    made = [late.format(pp) + f"#tokens: 16384, KV size: {2.5 - pp / 2} GB, avail mem=7.{pp}0 GB" for pp in (0, 1)]
    full = "[2026-05-02 10:00:12 PP0] Memory pool end. avail mem=30.00 GB"
    findings = run(Startup(), log(*START[:3], *reserved, full, *made, *START[5:]))
    facts = facts_of(findings)
    assert facts.numbers("start.kv_gib") == {"PP0": 2.5, "PP1": 2}
    assert facts.numbers("start.kv_tokens") == {"PP0": 16384, "PP1": 16384}
    assert facts.numbers("start.avail_after_pool_gib") == {"PP0": 7, "PP1": 7.1}
    assert made[0] in next(f for f in findings if "start.kv_gib" in f.facts).excerpt


def test_arguments_are_quoted_where_they_stand() -> None:
    findings = run(Startup(), log(*START))
    quoted = next(f for f in findings if "args.pp_size" in f.facts)
    assert "pp_size=2" in quoted.excerpt


def test_a_log_that_begins_later_claims_nothing_about_the_start() -> None:
    facts = facts_of(run(Startup(), log(decode(1), decode(2))))
    assert "start.ready" not in facts
    assert "start.graph_captured" not in facts


def test_a_start_that_never_got_ready_says_so() -> None:
    assert facts_of(run(Startup(), log(*START[:-1]))).flag("start.ready") is False


def test_captured_sizes_and_memory_are_read() -> None:
    lines = (
        "[2026-05-02 10:00:13 PP0] Capture target decode CUDA graph begin. backend=full, num_tokens_per_req=1, "
        "bs=[1, 2, 4], avail mem=7.10 GB",
        "[2026-05-02 10:00:14 PP0] Capture target decode CUDA graph end. elapsed=0.89 s, "
        "mem usage=0.15 GB, avail mem=6.95 GB",
    )
    facts = facts_of(run(Startup(), log(ARGS, *lines)))
    assert facts.items("start.graph_sizes") == [1, 2, 4]
    assert facts.flag("start.graph_captured") is True
    assert facts.numbers("start.graph_gib") == {"PP0": 0.15}
    assert facts.numbers("start.graph_avail_gib") == {"PP0": 6.95}


def test_stage_zero_alone_counts_for_decode() -> None:
    lines = [decode(s, tags, running=n, rate=90 + s) for s, n in ((20, 2), (22, 3), (24, 3)) for tags in ("PP0", "PP1")]
    facts = facts_of(run(Decode(), log(*START, *lines)))
    assert facts.number("decode.lines") == 3
    assert facts.table("decode.running_req_histogram") == {"2": 1, "3": 2}
    assert facts.number("decode.running_req.max") == 3
    assert facts.number("decode.graph_true_share") == 0
    assert facts.number("decode.graph_false_running_min") == 2
    assert facts.number("decode.throughput.max") == 114
    assert facts.flag("decode.same_slot_logged") is True
    assert facts.number("decode.tokens.max") == 300


def test_each_group_of_decode_facts_quotes_a_line_that_shows_it() -> None:
    lines = [decode(20, running=1), decode(22, running=3, queue=5), decode(24, running=3, graph="True")]
    findings = run(Decode(), log(*lines))
    graph = next(f for f in findings if "decode.graph_true_share" in f.facts)
    queue = next(f for f in findings if "decode.queue_share" in f.facts)
    assert "cuda graph: False" in graph.excerpt
    assert "#queue-req: 5" in queue.excerpt
    assert queue.facts["decode.queue_share"] == pytest.approx(1 / 3, abs=1e-3)


def test_throughput_of_data_parallel_ranks_is_added_and_shown_by_rank() -> None:
    lines = [decode(s, f"DP{dp} TP{dp}", running=4 - dp, rate=50) for s in (20, 22, 24) for dp in (0, 1)]
    facts = facts_of(run(Decode(), log(*lines)))
    assert facts.number("decode.throughput.p50") == 100
    assert facts.number("decode.running_req.max") == 4
    assert set(facts.table("decode.by_dp")) == {"DP0", "DP1"}


def test_a_stall_is_time_without_decoding_in_which_prefill_goes_on() -> None:
    lines = [decode(20), decode(22), *(prefill(s, pending=9000) for s in range(24, 40, 4)), decode(40), decode(42)]
    assert facts_of(run(Decode(), log(*lines))).number("decode.longest_gap_s") == 18


def test_an_idle_stretch_is_no_stall() -> None:
    lines = [prefill(19), decode(20), decode(22), prefill(120), decode(122), decode(124)]
    assert facts_of(run(Decode(), log(*lines))).number("decode.longest_gap_s") == 2


def test_levels_before_and_after_a_retraction_are_told() -> None:
    full = f"[{at(40)} PP0] KV cache pool is full. Retract requests. #retracted_reqs: 1"
    before = [decode(s, running=4, rate=400) for s in range(20, 40, 2)]
    after = [decode(s, running=6, rate=30) for s in range(42, 62, 2)]
    facts = facts_of(run(Decode(), log(*before, full, *after)))
    assert facts.number("decode.throughput_before") == 400
    assert facts.number("decode.throughput_after") == 30
    assert (facts.number("decode.running_before"), facts.number("decode.running_after")) == (4, 6)


def test_a_log_without_decode_lines_says_so() -> None:
    assert facts_of(run(Decode(), log(*START))).number("decode.lines") == 0
    assert facts_of(run(Prefill(), log(*START))).number("prefill.lines") == 0


def test_prefill_tells_tokens_cache_and_what_is_pending() -> None:
    lines = [prefill(20, new=384), prefill(21, new=128, pending=5000), decode(22), prefill(22, "PP1")]
    facts = facts_of(run(Prefill(), log(*lines)))
    assert facts.number("prefill.lines") == 2
    assert facts.number("prefill.new_tokens") == 512
    assert facts.number("prefill.cached_share") == pytest.approx(256 / 768, abs=1e-3)
    assert facts.number("prefill.pending_tokens.max") == 5000
    assert facts.number("prefill.longest_run") == 2
    assert facts.number("prefill.share_of_lines") == pytest.approx(2 / 3, abs=1e-3)
    assert facts.number("prefill.tokens_per_line.max") == 384


def test_each_kind_of_trouble_quotes_its_own_line() -> None:
    full = "KV cache pool is full. Retract requests. #retracted_reqs: {n}, #new_token_ratio: 0.0980 -> 0.7070"
    lines = [
        f"[{at(20)} PP0] {full.format(n=1)}",
        f"[{at(20)} PP1] {full.format(n=1)}",
        f"[{at(21)} PP0] {full.format(n=2)}",
        f"[{at(22)}] Using a slow tokenizer. This might cause a significant slowdown.",
    ]
    findings = run(Trouble(), log(*lines, decode(23)))
    facts = facts_of(findings)
    assert facts.number("trouble.kv_pool_full") == 2
    assert facts.number("trouble.slow_tokenizer") == 1
    slow = next(f for f in findings if "trouble.slow_tokenizer" in f.facts)
    assert slow.excerpt == lines[-1]


def test_the_rank_that_fell_silent_first_is_named() -> None:
    lines = [decode(s, f"PP{pp}") for s in range(20, 80, 10) for pp in (0, 1, 2) if not (pp == 1 and s > 30)]
    facts = facts_of(run(Trouble(), log(*lines)))
    assert facts.text("log.silent_rank") == "PP1"
    assert facts.table("log.last_seen")["PP1"] == "2026-05-02T10:00:30"


@pytest.mark.parametrize(("tags", "told"), [(" PP0 TP1", ["PP", "TP"]), (" DP0 TP0 EP0", ["DP", "TP", "EP"]), ("", [])])
def test_the_tags_of_the_schedulers_lines_are_told(tags: str, told: list[str]) -> None:
    line = decode(1, "PP9").replace(" PP9", tags)
    assert facts_of(run(Trouble(), log(line))).items("log.tags") == told


def test_lines_without_sglangs_prefix_tell_no_tags() -> None:
    bare = decode(1).partition("] ")[2]
    facts = facts_of(run(Trouble(), log(bare)))
    assert facts_of(run(Decode(), log(bare))).number("decode.lines") == 1
    assert "log.tags" not in facts


def test_batches_that_end_while_the_server_speaks_on_ended_in_the_middle_of_work() -> None:
    alive = f"[{at(200)}] Some other remark of the server"
    access = f'[{at(200)}] INFO:     127.0.0.1:1 - "GET /health HTTP/1.1" 200 OK'
    lines = [decode(20), decode(22)]
    assert facts_of(run(Trouble(), log(*lines, alive))).flag("log.ended_running") is True
    assert facts_of(run(Trouble(), log(*lines, access))).flag("log.ended_running") is False
    assert facts_of(run(Trouble(), log(*lines))).flag("log.ended_running") is False
    cut = "[2026-05-26-05-02 14:24:25] Health check failed. Server couldn't get a response from detokenizer for 20 s"
    assert facts_of(run(Trouble(), log(*lines, cut))).flag("log.ended_running") is False  # two lines in one: no time


def test_requests_that_their_clients_gave_up_did_not_hang() -> None:
    remark = f"[{at(200)}] Some other remark of the server"
    gone = f"[{at(25)}] Abort running request. req.rid='7'"
    late = f"[{at(150)}] Abort running request. req.rid='7'"
    flushed = f"[{at(190)}] Cache flushed successfully!"
    lines = [decode(20), decode(22)]
    assert facts_of(run(Trouble(), log(*lines, gone, remark))).flag("log.ended_running") is False
    assert facts_of(run(Trouble(), log(*lines, late, remark))).flag("log.ended_running") is True
    assert facts_of(run(Trouble(), log(*lines, flushed, remark))).flag("log.ended_running") is False


def test_a_client_that_left_is_told_of_as_harmless() -> None:
    error = "ValueError: Request is disconnected from the client side (type 1). Abort request obj.rid='3c1f'"
    facts = facts_of(run(Trouble(), log(decode(20), "Traceback (most recent call last):", error, decode(22))))
    assert facts.number("trouble.client_gone") == 1
    assert "trouble.value_error" not in facts


def test_prefill_without_decode_is_told() -> None:
    assert facts_of(run(Trouble(), log(prefill(20)))).flag("log.ended_without_decode") is True
    assert facts_of(run(Trouble(), log(prefill(20), decode(21)))).flag("log.ended_without_decode") is False


def two_nodes() -> FakeTarget:
    nodes = {}
    for node, stages in (("node1", (2, 3)), ("node0", (0, 1))):
        lines = [f"[{at(10)} PP{pp}] Load weight end. type=X, avail mem=40.00 GB, mem usage={pp + 1}.00 GB."
                 for pp in stages]  # fmt: skip
        lines += [decode(s, f"PP{pp}", running=pp + 1) for s in (20, 22, 24) for pp in stages]
        nodes[node] = {Artifact.SERVER_LOG: "".join(f"{line}\n" for line in lines)}
    return FakeTarget(nodes)


def test_stages_of_several_nodes_make_one_table() -> None:
    facts = facts_of(run(Startup(), two_nodes()))
    assert facts.numbers("start.weights_gib") == {"PP0": 1, "PP1": 2, "PP2": 3, "PP3": 4}
    assert set(facts_of(run(Trouble(), two_nodes())).table("log.last_seen")) == {"PP0", "PP1", "PP2", "PP3"}


def test_decode_lines_of_the_node_with_the_lowest_stage_count() -> None:
    findings = run(Decode(), two_nodes())
    assert {finding.host for finding in findings} == {"node0"}
    assert facts_of(findings).number("decode.running_req.max") == 1


def test_after_a_restart_the_last_launch_that_decoded_is_measured() -> None:
    first = [*START, *(decode(s, running=2) for s in range(20, 40, 2))]
    second = ["[2026-05-02 11:00:00] " + ARGS.split("] ", 1)[1].replace("pp_size=2", "pp_size=4")]
    facts = facts_of(run(Decode(), log(*first, *second)))
    assert facts.number("decode.running_req.max") == 2
    assert facts_of(run(Startup(), log(*first, *second))).number("args.pp_size") == 2
    later = [*second, *(decode(3600 + s, running=5) for s in range(20, 40, 2))]
    assert facts_of(run(Decode(), log(*first, *later))).number("decode.running_req.max") == 5


def test_one_reading_serves_all_four_tools() -> None:
    target = log(*START, decode(20), decode(22))
    context = ToolContext(target)
    for tool in tools():
        tool.run(context, tool.arguments())
    assert target.asked.count("box/server.log") == 1


def test_a_log_that_is_missing_or_empty_is_said_to_be_so() -> None:
    with pytest.raises(NotRecorded):
        run(Decode(), box())
    with pytest.raises(ToolError, match="is empty"):
        run(Decode(), box(server_log="\n\n"))


def test_one_unreadable_log_beside_a_good_one_is_a_finding() -> None:
    texts: dict[str, dict[Artifact, str | ToolError]] = {
        "a": {Artifact.SERVER_LOG: ToolError("server.log.gz cannot be read to its end")},
        "b": {Artifact.SERVER_LOG: decode(20) + "\n"},
    }
    findings = run(Decode(), FakeTarget(texts))
    assert findings[0].host == "b"
    assert findings[-1].facts == {"tool.unread": ["server.log.gz cannot be read to its end"]}


def test_the_tap_passes_every_line_on_without_its_end() -> None:
    tap = LogTap()
    assert list(tap.lines([b"a\r\n", b"\n", decode(1).encode(), b"b"])) == [b"a", b"", decode(1).encode(), b"b"]


@pytest.mark.parametrize("wrap", ["sglang-1  | {}", "2026-05-02T10:00:00.0Z {}", "\x1b[32m{}\x1b[0m"])
def test_lines_in_a_carriers_wrapper_are_read_and_quoted_as_they_stand(wrap: str) -> None:
    findings = run(Decode(), log(*(wrap.format(decode(s)) for s in (20, 22))))
    assert facts_of(findings).number("decode.lines") == 2
    assert findings[0].excerpt in wrap.format(decode(20))


def test_a_log_that_a_power_cut_filled_with_nuls_is_read_and_the_nuls_are_said() -> None:
    hole = "\0" * 50_000
    target = box(server_log="".join(f"{line}\n" for line in (*START, decode(20), decode(21))) + hole)
    findings = run(Decode(), target)
    assert facts_of(findings).number("decode.lines") == 2
    assert [finding.facts["tool.unread"] for finding in findings if "tool.unread" in finding.facts] == [
        ["server.log of box: 48.8 KiB of NUL bytes were passed over, as a power cut or a full disk leaves them"]
    ]
    assert not any("\0" in finding.excerpt for finding in findings)


def test_lines_behind_a_hole_of_nuls_count_too_and_a_line_cut_by_it_does_not() -> None:
    whole = (*START, decode(20), decode(21))
    cut = decode(22)[:60] + "\0" * 4096 + decode(90)
    facts = facts_of(run(Decode(), log(*whole, cut, decode(91))))
    assert facts.number("decode.lines") == 4


def test_a_log_of_nothing_but_nuls_is_not_called_empty() -> None:
    with pytest.raises(ToolError, match="2.0 MiB of NUL bytes"):
        run(Decode(), box(server_log="\0" * (2 << 20)))
