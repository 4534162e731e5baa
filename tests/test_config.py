from pathlib import Path

import pytest

from ppagent.config import OPENAI_URL, api_key, config_path, profile_of, read_config
from ppagent.errors import UserError

PROFILES = """
default = "lab"

[models.lab]
model = "Qwen/Qwen3-32B"
base_url = "http://127.0.0.1:30000/v1"

[models.dear]
model = "big"
api_key_env = "DEAR_KEY"
usd_per_million_input = 3.0
usd_per_million_output = 15.0
"""


def home(tmp_path: Path, text: str = "") -> dict[str, str]:
    """The environment of a person with this configuration."""
    path = tmp_path / "ppagent" / "config.toml"
    if text:
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return {"XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)}


def test_where_nothing_names_a_model_there_is_none(tmp_path: Path) -> None:
    assert profile_of(environ=home(tmp_path)) is None


def test_a_key_alone_names_no_model_so_that_no_log_leaves_unasked(tmp_path: Path) -> None:
    assert profile_of(environ=home(tmp_path) | {"OPENAI_API_KEY": "sk-x"}) is None


def test_the_configured_default_is_taken(tmp_path: Path) -> None:
    profile = profile_of(environ=home(tmp_path, PROFILES))

    assert profile is not None
    assert (profile.model, profile.base_url) == ("Qwen/Qwen3-32B", "http://127.0.0.1:30000/v1")


def test_a_name_is_a_profile_where_there_is_one_and_else_a_model(tmp_path: Path) -> None:
    env = home(tmp_path, PROFILES) | {"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1"}

    dear, other = profile_of("dear", environ=env), profile_of("llama", environ=env)

    assert dear is not None and (dear.model, dear.usd_per_million_output) == ("big", 15.0)
    assert other is not None and (other.model, other.base_url) == ("llama", "http://127.0.0.1:8000/v1")


def test_the_command_line_counts_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    env = home(tmp_path, PROFILES) | {"PPAGENT_MODEL": "dear", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}

    by_env, by_line = profile_of(environ=env), profile_of("lab", "http://127.0.0.1:2/v1", env)

    assert by_env is not None and by_env.model == "big"
    assert by_line is not None and by_line.base_url == "http://127.0.0.1:2/v1"


def test_an_endpoint_alone_is_enough_and_its_first_model_is_taken(tmp_path: Path) -> None:
    profile = profile_of(base_url="http://127.0.0.1:30000/v1", environ=home(tmp_path))

    assert profile is not None and profile.model == ""
    assert api_key(profile, {}) == "none"


def test_a_key_is_read_from_the_variable_that_the_profile_names(tmp_path: Path) -> None:
    profile = profile_of("dear", environ=home(tmp_path, PROFILES))

    assert profile is not None and profile.base_url == OPENAI_URL
    assert api_key(profile, {"DEAR_KEY": " k "}) == "k"
    with pytest.raises(UserError, match="DEAR_KEY is not set"):
        api_key(profile, {"OPENAI_API_KEY": "k"})


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("default = ", "cannot be read"),
        ('default = "x"', "no profile 'x'"),
        ('[models.a]\napi_key = "sk-1"', "holds an API key"),
        ('[models.a]\nmodle = "x"', "models.a.modle"),
        ("[models.a]\nusd_per_million_input = -1", "usd_per_million_input"),
        ("[models.a]\nusd_per_million_input = nan", "usd_per_million_input"),
        ("[models.a]\ncontext_tokens = 10", "context_tokens"),
        ("models = 3", "models"),
    ],
)
def test_what_is_wrong_with_the_file_is_said_with_its_place(tmp_path: Path, text: str, wrong: str) -> None:
    env = home(tmp_path, text)

    with pytest.raises(UserError, match=wrong) as failed:
        read_config(config_path(env))
    assert "config.toml" in str(failed.value)
    assert "sk-1" not in str(failed.value)


@pytest.mark.parametrize("url", ["127.0.0.1:30000", "ftp://a/v1", "http://", "http://me:secret@lab/v1"])
def test_a_base_url_that_is_none_is_refused_without_repeating_a_login(tmp_path: Path, url: str) -> None:
    with pytest.raises(UserError) as failed:
        profile_of("m", url, home(tmp_path))
    assert "secret" not in str(failed.value)
