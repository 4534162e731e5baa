"""A server process: SGLang's command line as far as the tests use it, its ready line, and some ways to fail."""

import argparse
import ssl
import sys
import time
from datetime import datetime

from tests.bench.fakes import FakeServer


def say(message: str) -> None:
    sys.stderr.write(f"[{datetime.now():%Y-%m-%d %H:%M:%S}] {message}\n")
    sys.stderr.flush()


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--model-path")
    parser.add_argument("--port", type=int, default=30000)
    parser.add_argument("--pp-size", type=int, default=1)
    parser.add_argument("--pp-max-micro-batch-size", type=int)
    parser.add_argument("--attention-backend", default="triton")
    parser.add_argument("--base-ms", type=float, default=2.0)
    parser.add_argument("--ssl-certfile")
    parser.add_argument("--ssl-keyfile")
    parser.add_argument("--api-key", default="")
    args = parser.parse_args()
    say("server_args=ServerArgs(model_path='x')")
    if args.attention_backend == "fa3":
        say("Scheduler hit an exception: Traceback (most recent call last):")
        say("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")
        raise SystemExit(1)
    if args.attention_backend == "flashinfer":
        time.sleep(3600)
    tls = None
    if args.ssl_certfile:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(args.ssl_certfile, args.ssl_keyfile)
    server = FakeServer(
        stages=args.pp_size,
        base_ms=args.base_ms,
        launched_limit=args.pp_max_micro_batch_size,
        wanted_port=args.port,
        tls=tls,
        key=args.api_key,
    )
    with server:
        say("The server is fired up and ready to roll!")
        while True:
            time.sleep(1)


main()
