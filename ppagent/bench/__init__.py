"""Loading a server and measuring what its clients get.

What makes other benchmarks lie, and what stands against it here:

- Time in the client's own queue is not counted: every latency begins when a request was due (`record`), and the wait
  inside the client is told apart (`mean_client_wait_ms`).
- The client is the slow one: it reads up to 256 KiB at a time into one buffer, counts the tokens of an event without
  parsing it, and parses one event a request (`connection`, `http_reader`, `events`); it measures its own lag and warns
  when that passes 50 ms (`lag`, `doubts`); `scripts/bench_load_client.py` shows how far that goes.
- Handshakes and pools inflate the first token: one connection a client, opened before the clock starts, kept open; an
  open loop has as many ready as requests come in four seconds (`load`).
- A burst is none, and start order decides how slots fill: all first requests are built, then sent from a barrier; the
  real spread is told (`start_spread_ms`) and warned about (`doubts`).
- A cap somewhere limits concurrency: in flight as asked for, as seen by the client, as the server's own counters have
  it, side by side (`server_view`, `table`), with a warning where they part (`doubts`).
- A sweep takes hours: every level is boxed in time; what still runs then is cut and counted apart (`level`).
- Models stop early: tokens are counted as received, `ignore_eos` is set, and early ends are told.
- Two TPOTs: the formula stands in every row (`tpot_formula`).
- Failures pollute means: errors and cuts are apart and in no average; an error inside a stream is one (`record`).
- Wall-clock tok/s passes for decode speed: both are told, `output_throughput` and `steady_output_throughput`.
- Ramps make a short run slow: the steady rate is over the longest stretch with nine tenths of the clients at work, cut
  at the silences between bursts of tokens (`steady`); settings are compared by whole requests (`smooth`).
- Different ways to a server differ by milliseconds: the way and its round trip are told (`surroundings`, `reach`).
- A clocked-down CPU doubles the first token: the governor is told and warned about (`surroundings`).
- Random tokens route through experts and hit caches as no user does: real prompts with `--prompts`, and which it was is
  told; no prompt begins like another, and repeated ones are told (`prompts`).
- The first batch of a size compiles: each level is warmed at its own concurrency (`load`).
- A profiler slows the host: none is ever on while something is measured.
- `/v1/loads` shows one slot of a pipeline: it is told as that; requests in flight come from the latency counters by
  Little's law (`server_view`).
- Log lines every 40 steps show the same slot: no figure here is taken from the log.
- Zero think time hides clumping: levels are measured with and without (`shape`).
- Other people's traffic passes for ours: the server's token counter is held against our own count (`doubts`).
"""
