"""The brains by name."""

from typing import TYPE_CHECKING

from ppagent.agent.choosing import Brain
from ppagent.brains.rules import RulesBrain
from ppagent.errors import UserError

if TYPE_CHECKING:
    from ppagent.config import ModelProfile
    from ppagent.sessions import Recorder

BRAINS = ("auto", "rules", "llm")


def brain_of(name: str, *, model: str = "", base_url: str = "", recorder: "Recorder | None" = None) -> Brain:
    """The brain of that name; "auto" takes a model where one is named, on the command line, in the environment or in
    the configuration, else the rules. Raises UserError where "llm" has no model to ask."""
    match name:
        case "rules":
            return RulesBrain()
        case "auto" | "llm":
            from ppagent.config import profile_of

            profile = profile_of(model, base_url)
            if profile is not None:
                return _with_model(profile, recorder)
            if name == "auto":
                return RulesBrain()
            raise UserError("No model is named.", "Give --model or --base-url, or use --brain rules.")
        case _:
            raise UserError(f"There is no brain {name!r}.", f"Take one of {', '.join(BRAINS)}.")


def _with_model(profile: "ModelProfile", recorder: "Recorder | None") -> Brain:
    """The openai package is loaded here and nowhere on the way to the rules."""
    from ppagent.brains.llm.abilities import Abilities
    from ppagent.brains.llm.brain import LlmBrain, Settings
    from ppagent.brains.llm.client import OpenAiModel
    from ppagent.brains.llm.prices import Prices
    from ppagent.config import api_key

    model = OpenAiModel(
        profile.base_url,
        profile.model,
        api_key(profile),
        abilities=Abilities(tools=profile.tools, stream=profile.stream),
        timeout_s=profile.timeout_s,
        max_tokens=profile.reply_tokens,
    )
    prices = Prices(profile.usd_per_million_input, profile.usd_per_million_output)
    settings = Settings(prices, profile.context_tokens, profile.reply_tokens, model.endpoint)
    return LlmBrain(model, settings, recorder)
