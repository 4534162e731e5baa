"""Which model to ask: from the command line, the environment, or profiles in a configuration file.

    # $XDG_CONFIG_HOME/ppagent/config.toml, by default ~/.config/ppagent/config.toml
    default = "lab"

    [models.lab]
    model = "Qwen/Qwen3-32B"
    base_url = "http://127.0.0.1:30000/v1"
    usd_per_million_input = 0.0
    usd_per_million_output = 0.0

A key never stands in the file: `api_key_env` names the environment variable that holds it.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, ValidationError

from ppagent.errors import UserError

OPENAI_URL = "https://api.openai.com/v1"
KEY_ENV = "OPENAI_API_KEY"
URL_ENV = "OPENAI_BASE_URL"
MODEL_ENV = "PPAGENT_MODEL"

Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ModelProfile(BaseModel, extra="forbid", frozen=True):
    """One model at one endpoint."""

    model: str = ""
    """Its name there; empty takes the first that the endpoint serves."""
    base_url: str = OPENAI_URL
    api_key_env: str = KEY_ENV
    """Name of the environment variable with the key. An endpoint of one's own mostly needs none."""
    usd_per_million_input: Price = 0.0
    usd_per_million_output: Price = 0.0
    context_tokens: Annotated[int, Field(ge=2_048)] = 32_768
    reply_tokens: Annotated[int, Field(ge=128)] = 2_048
    timeout_s: Annotated[float, Field(gt=0, le=3_600)] = 120.0
    """Of one request."""
    stream: bool = True
    tools: bool = True
    """False for a server without function calls: they are then asked for as JSON in the text."""


class Config(BaseModel, extra="forbid", frozen=True):
    """The configuration file."""

    default: str = ""
    """Name of the profile that is used where none is named."""
    models: dict[str, ModelProfile] = Field(default_factory=dict)


def config_path(environ: Mapping[str, str]) -> Path:
    given = environ.get("XDG_CONFIG_HOME", "")
    home = Path(given) if Path(given).is_absolute() else Path.home() / ".config"
    return home / "ppagent" / "config.toml"


def read_config(path: Path) -> Config:
    """The file's content; empty where there is no file. Raises UserError with the field that is wrong."""
    if not _is_there(path):
        return Config()
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}.", "Put it right, or take it away.") from error
    _refuse_keys(raw, path)
    try:
        config = Config.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{path}: {place}: {first['msg']}.", "docs/llm.md lists what may stand there.") from error
    if config.default and config.default not in config.models:
        raise UserError(f"{path}: there is no profile {config.default!r}.", _named(config))
    return config


def _is_there(path: Path) -> bool:
    """Whether the user has the file. A folder that may not be entered is somebody else's (`sudo -u` keeps HOME)."""
    try:
        return path.exists()
    except OSError:
        return False


def profile_of(model: str = "", base_url: str = "", environ: Mapping[str, str] | None = None) -> ModelProfile | None:
    """The model to ask: `model` is a profile's name or a model's. None where nothing names one, neither the command
    line nor the environment nor the file. A key alone names none."""
    env = os.environ if environ is None else environ
    config = read_config(config_path(env))
    named = model or env.get(MODEL_ENV, "") or config.default
    url = base_url or env.get(URL_ENV, "")
    if named in config.models:
        profile = config.models[named]
        return _checked(profile.model_copy(update={"base_url": base_url}) if base_url else profile)
    if not named and not url:
        return None
    return _checked(ModelProfile(model=named, base_url=url or OPENAI_URL))


def api_key(profile: ModelProfile, environ: Mapping[str, str] | None = None) -> str:
    """The key for a profile. Raises UserError where OpenAI's own endpoint would be asked without one."""
    env = os.environ if environ is None else environ
    key = env.get(profile.api_key_env, "").strip()
    if not key and profile.base_url == OPENAI_URL:
        raise UserError(f"{profile.api_key_env} is not set.", "Set it, or name your own endpoint with --base-url.")
    return key or "none"


def _checked(profile: ModelProfile) -> ModelProfile:
    wrong = UserError(f"{profile.base_url!r} is no base URL.", "Write it like http://127.0.0.1:30000/v1.")
    try:
        parts = urlsplit(profile.base_url)
        named = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError as error:  # a port or an IPv6 address that is none
        raise wrong from error
    if not named or re.search(r"\s", profile.base_url):
        raise wrong
    if parts.username or parts.password:
        raise UserError("The base URL holds a login.", f"Put the key into {profile.api_key_env} instead.")
    return profile


def _refuse_keys(raw: Mapping[str, object], path: Path) -> None:
    models = raw.get("models")
    for name, profile in models.items() if isinstance(models, dict) else ():
        if isinstance(profile, dict) and "api_key" in profile:
            advice = f"Put it into an environment variable and name that: api_key_env = {KEY_ENV!r}."
            raise UserError(f"{path}: models.{name} holds an API key.", advice)


def _named(config: Config) -> str:
    return f"It has {', '.join(config.models)}." if config.models else "It has no profiles."
