"""Launch texts in every form, and a small catalogue with one flag of each kind."""

from ppagent.sglang.flags.flag import Catalogue, Flag

CATALOGUE = Catalogue(
    "0.5.10",
    (
        Flag("--model-path", "model_path", aliases=("--model",)),
        Flag("--served-model-name", "served_model_name"),
        Flag("--tensor-parallel-size", "tp_size", aliases=("--tp-size",), type="int", default=1),
        Flag("--pipeline-parallel-size", "pp_size", aliases=("--pp-size",), type="int", default=1),
        Flag("--pp-max-micro-batch-size", "pp_max_micro_batch_size", type="int"),
        Flag("--pp-async-batch-depth", "pp_async_batch_depth", type="int", default=0),
        Flag("--chunked-prefill-size", "chunked_prefill_size", type="int"),
        Flag("--mem-fraction-static", "mem_fraction_static", type="float"),
        Flag("--cuda-graph-bs", "cuda_graph_bs", type="int", nargs="+"),
        Flag("--cuda-graph-max-bs", "cuda_graph_max_bs", type="int"),
        Flag("--disable-cuda-graph", "disable_cuda_graph", type="bool", default=False, action="store_true"),
        Flag("--enable-metrics", "enable_metrics", type="bool", default=False, action="store_true"),
        Flag("--disable-metrics", "enable_metrics", type="bool", action="store_false"),
        Flag("--json-model-override-args", "json_model_override_args", default="{}"),
        Flag("--numa", "numa", aliases=("--no-numa",), type="bool", default=True, action="boolean_optional"),
        Flag("--port", "port", type="int", default=30000),
    ),
)

ONE_LINE = "CUDA_VISIBLE_DEVICES=0,1 python -m sglang.launch_server --model-path m --tp 2 --disable-cuda-graph"

SCRIPT = """#!/bin/bash
# eight stages
export NCCL_DEBUG=WARN
MODEL=/models/kimi
nohup numactl --interleave=all python3 -m sglang.launch_server \\
    --model-path $MODEL \\
    --pp-size=8 \\
    --cuda-graph-bs 1 2 4 \\
    --disable-cuda-graph > server.log 2>&1 &
"""

ARRAY = """ARGS=(
  --model-path m
  --tp 2  # two cards
)
sglang serve "${ARGS[@]}" --port $PORT
"""

DOCKER = (
    "docker run --gpus all -e NCCL_DEBUG=WARN -v /models:/models lmsysorg/sglang:v0.5.10 "
    "python3 -m sglang.launch_server --model-path /models/m --tp 2 --disable-cuda-graph"
)

DOCKER_SHELL = 'docker run --gpus all image bash -c "python3 -m sglang.launch_server --model-path m --tp 2"'

SYSTEMD = """[Service]
Environment="HF_HOME=/data/hf home" NCCL_DEBUG=WARN
ExecStart=/srv/venv/bin/python -m sglang.launch_server \\
    --model-path m \\
    --tp 2
Restart=always
"""

KUBERNETES = """apiVersion: v1
kind: Pod
spec:
  containers:
    - name: server  # the only one
      image: lmsysorg/sglang:v0.5.10
      command: ["python3", "-m", "sglang.launch_server"]
      args:
        - --model-path
        - m
        - --tp
        - "2"
        - --disable-cuda-graph  # for now
      env:
        - name: NCCL_DEBUG
          value: WARN
"""

KUBERNETES_SCRIPT = """kind: Pod
spec:
  containers:
    - command: [sh, -c]
      args:
        - |
          ulimit -n 65536
          exec python3 -m sglang.launch_server \\
            --model-path m \\
            --tp 2
"""

KUBERNETES_JSON = (
    '{"kind": "Pod", "spec": {"containers": [{"name": "s", "command": ["python3", "-m", "sglang.launch_server"],'
    ' "args": ["--model-path", "m", "--tp=2"]}]}}'
)

COMPOSE = """services:
  sglang:
    image: lmsysorg/sglang:latest
    environment:
      NCCL_DEBUG: WARN
    command: >
      python3 -m sglang.launch_server
      --model-path m
      --tp 2
    restart: always
"""

COMPOSE_ENTRYPOINT = """services:
  sglang:
    environment:
      - NCCL_DEBUG=WARN
    entrypoint: python3 -m sglang.launch_server
    command: --model-path m --tp 2
"""

FORMS = {
    "one line": ONE_LINE,
    "script": SCRIPT,
    "array": ARRAY,
    "docker": DOCKER,
    "docker shell": DOCKER_SHELL,
    "systemd": SYSTEMD,
    "kubernetes": KUBERNETES,
    "kubernetes script": KUBERNETES_SCRIPT,
    "kubernetes json": KUBERNETES_JSON,
    "compose": COMPOSE,
    "compose entrypoint": COMPOSE_ENTRYPOINT,
}
