import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.evidence.masking import MASK, mask, mask_value
from tests.fixtures.growth import LINEAR, growth

NAMES = ("api_key", "admin_api_key", "ssl_keyfile_password", "hf_token", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN",
         "AWS_SECRET_ACCESS_KEY", "aws_session_token", "WANDB_API_KEY", "client_secret", "db.password", "token",
         "watermark_key", "x-api-key", "accessToken", "privateKey", "MYSQL_PWD")  # fmt: skip
FORMS = (
    "{n}='{s}'", '{n}="{s}"', "{n}={s}", "{n}: {s}", '{n}: "{s}"', '"{n}": "{s}"', '{{"{n}":"{s}","port":30000}}',
    "{{'{n}': '{s}', 'tp_size': 8}}", '{{\\"{n}\\": \\"{s}\\"}}', "export {n}={s} && run",
    "docker run -e {n}={s} image",
    "server_args=ServerArgs(model_path='m', {n}='{s}', tp_size=8)", "- name: {n}\n  value: {s}\n",
    '{{"name": "{n}", "value": "{s}"}}', 'Environment="{n}={s}"', "password: {s}", "Authorization: Bearer {s}",
    '-H "Authorization: Bearer {s}"', "headers={{'authorization': 'Bearer {s}'}}", "http://user:{s}@proxy:3128/x",
    "redis://:{s}@cache:6379/0", "--api-key {s} --port 30000", "--api-key={s} --port 30000", '--api-key "{s}"',
    "--admin-api-key \\\n    {s} \\\n  --tp 8", '["--api-key", "{s}", "--tp", "8"]', "- --api-key\n- {s}\n- --tp",
    "--hf-token {s}", "curl -u me:{s} http://h", "token = {s}", "[2026-05-02 10:00:00 PP0 TP0] {n}={s}, port=30000",
)  # fmt: skip
secrets = st.from_regex(r"[A-Za-z][A-Za-z0-9_./+~-]{6,40}[0-9][A-Za-z0-9]", fullmatch=True).filter(
    lambda s: not s.lower().startswith(("none", "null", "true", "false", "nil", "nan"))
)

BELOW = (
    "{n}:\n  {s}", "{n}:\n  {s}\nport: 3", "db:\n  {n}:\n    {s}  # of the office\n  port: 3",
    "{n} =\n    {s}\nport = 3",
    "- {n}:\n    {s}", "{n}:\r\n  {s}\r\nport: 3\r\n", '"{n}":\n  "{s}"', "{n}:\n  '{s}'\nport: 3",
    "{n}:\n  - {s}\n  - {s}x\nport: 3",
)  # fmt: skip

SHAPED = ("sk-abcdefghijklmnop1234", "sk-proj-abcDEF_123456789012", "hf_abcdefghijklmnopqrstuvwxyzABCDEF",
          "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "github_pat_11ABCDEFG0abcdefghijkl_mnop", "AKIAIOSFODNN7EXAMPLE",
          "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N", "glpat-abcdefghij0123456789",
          "nvapi-abcdefghij0123456789_-xyz", "xoxb-123456789012-abcdef")  # fmt: skip

ORDINARY = """\
[2026-05-02 10:00:01 PP0 TP0] Decode batch, #running-req: 48, #token: 3894, token usage: 0.03, accept len: 1.00, cuda graph: False, gen throughput (token/s): 5452.63, #queue-req: 0
[2026-05-02 10:00:01 DP0 TP0] Decode batch. #running-req: 4, #full token: 2642688, full token usage: 1.00, #swa token: 14592, swa token usage: 0.06
[2026-05-02 10:00:01 PP0] Prefill batch, #new-seq: 1, #new-token: 64, #cached-token: 0, token usage: 0.00, #pending-token: 157704, input throughput (token/s): 11.94
[2026-05-02 10:00:01 PP0] max_total_num_tokens=2980168, chunked_prefill_size=4096, max_prefill_tokens=16384, max_running_requests=4096, context_len=32768
[2026-05-02 10:00:01 PP0] KV Cache is allocated. #tokens: 16384, K size: 0.02 GB, V size: 0.02 GB
[2026-05-02 10:00:01 PP0] KV cache pool is full. Retract requests. #retracted_reqs: 1, #new_tokens_gained: 12, #new_token_ratio: 0.0980 -> 0.7070
[2026-05-02 10:00:01] Capture target decode CUDA graph begin. backend=full, num_tokens_per_req=1, bs=[1, 2, 4]
[2026-05-02 10:00:01] Using a slow tokenizer. This might cause a significant slowdown.
server_args=ServerArgs(tokenizer_path='/m', tokenizer_mode='auto', skip_tokenizer_init=False, api_key=None, admin_api_key=None, ssl_keyfile_password=None, max_total_tokens=16384)
{"api_key": null, "admin_api_key":null, "hf_token": "", "eos_token": "<|im_end|>", "bos_token_id": 0, "watermark_key":"<redacted>", "tokens_per_s": 95.6}
time per token: 105.3 ms, first token: 300ms, each token: waits for the ring
--tokenizer-path /m --max-total-tokens 16384 --tokenizer-worker-num 2 --ssl-keyfile /etc/key.pem --api-key $API_KEY
dist_init_addr='tcp://10.1.1.1:5000' ssh://me@gpu-box docker run -u 1000:1000 --gpus all
secretKeyRef:
  name: hf
  key: token
"""  # noqa: E501


@given(st.sampled_from(FORMS), st.sampled_from(NAMES), secrets)
def test_a_planted_secret_never_survives(form: str, name: str, secret: str) -> None:
    text = form.format(n=name, s=secret)
    masked = mask(text)
    assert secret not in masked
    assert MASK in masked
    assert mask(masked) == masked


@given(st.sampled_from(BELOW), st.sampled_from(NAMES), secrets)
def test_a_secret_on_the_line_below_its_name_is_masked_and_what_follows_is_kept(
    form: str, name: str, secret: str
) -> None:
    text = form.format(n=name, s=secret)
    masked = mask(text)
    assert secret not in masked
    assert MASK in masked
    assert ("port" in masked) == ("port" in text)
    assert mask(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "password:\nport: 3", "password:\n  user: me\n  host: h", "credentials:\n  see the page about them",
        "secrets:\n  - name: hf\n    key: token", "per token:\n  each", "token:\n  12\n",
        "api_key:\n\n  text of another day",
        "  password:\n  hello", "Traceback: wrong password:\n    raise ValueError(text)",
    ],
)  # fmt: skip
def test_the_line_below_a_secrets_name_is_kept_where_it_is_no_value(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize("secret", SHAPED)
def test_a_secret_is_known_by_its_shape_wherever_it_stands(secret: str) -> None:
    assert mask(f"the user pasted {secret}, sorry") == f"the user pasted {MASK}, sorry"


def test_a_password_in_an_address_may_hold_a_slash_and_a_port_is_no_password() -> None:
    assert mask("http://user:A00000/00@proxy:3128/x") == f"http://{MASK}@proxy:3128/x"
    assert mask("http://box:30000/mail/me@example.org") == "http://box:30000/mail/me@example.org"


def test_a_private_key_is_masked_to_its_end_or_to_the_end_of_what_was_kept() -> None:
    assert mask("a -----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY----- b") == f"a {MASK} b"
    assert mask("a -----BEGIN PRIVATE KEY-----\nMIIE\nab") == f"a {MASK}"


def test_ordinary_lines_come_back_unchanged() -> None:
    for line in ORDINARY.splitlines():
        assert mask(line) == line
    assert mask(ORDINARY) == ORDINARY


def test_what_stands_around_a_secret_is_kept() -> None:
    assert mask("ServerArgs(api_key='x1', port=3)") == f"ServerArgs(api_key='{MASK}', port=3)"
    assert mask('{"api_key":"x1","port":3}') == f'{{"api_key":"{MASK}","port":3}}'
    assert mask("HF_TOKEN=x1 python -m sglang.launch_server") == f"HF_TOKEN={MASK} python -m sglang.launch_server"
    assert mask("password: correct horse  # staple") == f"password: {MASK}  # staple"
    assert mask("api_keys: ['a1', \"b2\"], port: 3") == f"api_keys: {MASK}, port: 3"
    assert mask("password: |\n  a1\n  b2\nport: 3") == f"password: {MASK}\nport: 3"


def test_a_secret_with_a_quote_in_it_is_masked_whole() -> None:
    assert mask("{'api_key': 'it\\'s secret', 'port': 3}") == f"{{'api_key': '{MASK}', 'port': 3}}"
    assert "rest" not in mask("--api-key 'ab'\"rest\" --port 3")


def test_a_value_is_masked_by_the_name_it_goes_by() -> None:
    assert mask_value("launch.api_key", "hunter") == MASK
    assert mask_value("env.HF_TOKEN", "hunter") == MASK
    assert mask_value("launch.api_key", None) is None
    assert mask_value("args.password", 1234) == MASK
    assert mask_value("internal.memory.token_capacity", 16384) == 16384
    assert mask_value("decode.tokens.mean", 3894.5) == 3894.5
    assert mask_value("prefill.new_tokens", 64) == 64


def test_masking_reaches_into_tables_and_lists() -> None:
    assert mask_value("host.x", {"api_key": "a", "n": [{"password": "b"}, "HF_TOKEN=c"]}) == {
        "api_key": MASK,
        "n": [{"password": MASK}, f"HF_TOKEN={MASK}"],
    }
    assert mask_value("cmdline", ["python", "--api-key", "a", "--port", "3"]) == [
        "python", "--api-key", MASK, "--port", "3",
    ]  # fmt: skip
    assert mask_value("env.x", [{"name": "HF_TOKEN", "value": "a", "kind": "literal"}]) == [
        {"name": "HF_TOKEN", "value": MASK, "kind": "literal"}
    ]
    assert mask_value("env.credentials", {"user": "a", "port": 3}) == {"user": MASK, "port": MASK}


def test_a_user_of_a_web_address_may_be_a_token_and_one_of_another_is_a_name() -> None:
    assert mask("git clone https://hunter@example.org/x") == f"git clone https://{MASK}@example.org/x"
    assert mask("ssh://me@example.org") == "ssh://me@example.org"
    assert mask("ssh://me:hunter@example.org") == f"ssh://{MASK}@example.org"


@given(st.text(max_size=200))
def test_any_text_can_be_masked_and_masking_twice_changes_nothing(text: str) -> None:
    assert mask(mask(text)) == mask(text)


FILLERS = (
    "a",
    "token ",
    "a.b-",
    "'",
    "--api-key ",
    "[",
    "eyJ",
    "x://",
    "\\",
    "http://a:",
    "token: ",
    "password:\n ",
    "password:\n  a ",
    "k_token=\n  - a\n  - b",
)


@pytest.mark.parametrize("filler", FILLERS)
@pytest.mark.bench
def test_the_time_for_hostile_text_grows_with_its_length(filler: str) -> None:
    assert growth(mask, filler, 60_000) < LINEAR


@pytest.mark.parametrize("compared", ["==", "!=", " == ", " != ", "==="])
@pytest.mark.parametrize("quote", ["'", '"', ""])
def test_a_secret_that_a_line_of_a_program_compares_with_is_masked_and_not_the_sign_alone(
    compared: str, quote: str
) -> None:
    line = f"assert self.api_key{compared}{quote}hunter2secret{quote}, 1"
    assert mask(line) == f"assert self.api_key{compared}{quote}[masked]{quote}, 1"
    assert mask(mask(line)) == mask(line)
