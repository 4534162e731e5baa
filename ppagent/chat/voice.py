"""A model's answer to a question that no rule understands: its own words, shown as they come, held against the evidence
when they are all there.

`openai` is loaded when the first question is put to it, and not before.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from ppagent.agent.choosing import Usage, View
from ppagent.brains.llm.abilities import Abilities
from ppagent.brains.llm.checks import Grounds, Statement, problems, says_to_act
from ppagent.brains.llm.model import ModelFailed, Spent
from ppagent.brains.llm.prices import Prices, tokens_in
from ppagent.brains.llm.prompts import prompt
from ppagent.brains.llm.showing import board_shown, quoted, server_shown, shown
from ppagent.changes.commands import Installed
from ppagent.changes.proposal import Plan
from ppagent.chat.session import Said
from ppagent.config import ModelProfile, api_key
from ppagent.evidence.masking import mask
from ppagent.report.steps import steps_of

MOST_TURNS = 6
"""Earlier messages that are sent along."""
MOST_OF_A_TURN = 1_200
EVIDENCE_SHARE = 0.5
"""Of the model's context, for evidence."""
CHARACTERS_PER_TOKEN = 3
LONGEST_ANSWER = 40_000

WORDS_ONLY = Abilities(tools=False, strict=False, parallel=False, usage=False, json_schema=False, temperature=False)
"""Features of a request that only asks for words."""

_IDS = re.compile(r"\b(?:[A-Z]{2}\d{3}|[HMPE]\d{1,3})\b")
_CITED = re.compile(r"\bE\d+\b")
_THINK = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


@dataclass
class Voice:
    """One model at one endpoint, asked for words."""

    profile: ModelProfile
    spent: Usage = Usage()

    def answer(self, question: str, view: View, plan: Plan, said: Sequence[Said]) -> Iterator[str]:
        """Pieces of the answer as they come. Raises ModelFailed where none does."""
        messages = self._messages(question, view, plan, said)
        pieces: list[str] = []
        try:
            for piece in without_thoughts(self._stream(messages)):
                pieces.append(piece)
                yield piece
        finally:
            self._count(messages, "".join(pieces))

    def _messages(self, question: str, view: View, plan: Plan, said: Sequence[Said]) -> list[dict[str, str]]:
        room = int(self.profile.context_tokens * EVIDENCE_SHARE * CHARACTERS_PER_TOKEN)
        system = prompt(
            "chat",
            server=server_shown(view),
            board=board_shown(view.board),
            plan=_plan_shown(plan),
            evidence=shown(view.evidence)[:room],
        )
        earlier = [
            {"role": "user" if one.who == "user" else "assistant", "content": quoted(one.text, MOST_OF_A_TURN)}
            for one in said[-MOST_TURNS:]
        ]
        return [{"role": "system", "content": system}, *earlier, {"role": "user", "content": mask(question)}]

    def _stream(self, messages: list[dict[str, str]]) -> Iterator[str]:
        """The answer's text. What the endpoint refuses is left out, and it is asked once more."""
        import httpx2
        import openai

        from ppagent.brains.llm.faults import FAILURES, fault_of

        profile = self.profile
        endpoint = urlsplit(profile.base_url).netloc
        http = httpx2.Client(verify=not profile.base_url.startswith("http://"), follow_redirects=False)
        client = openai.OpenAI(api_key=api_key(profile), base_url=profile.base_url, max_retries=0, http_client=http)
        abilities: Abilities | None = replace(WORDS_ONLY, stream=profile.stream)
        try:
            while abilities is not None:
                try:
                    yield from _asked(client, profile, messages, abilities)
                    return
                except FAILURES as error:
                    fault = fault_of(error, endpoint, profile.model)
                abilities = abilities.without(fault.words) if fault.kind == "refused" else None
            raise ModelFailed(fault.says)
        finally:
            http.close()

    def _count(self, messages: list[dict[str, str]], answer: str) -> None:
        asked = sum(tokens_in(message["content"]) for message in messages)
        spent = Spent(asked, tokens_in(answer), estimated=True)
        prices = Prices(self.profile.usd_per_million_input, self.profile.usd_per_million_output)
        tokens = self.spent.tokens + spent.prompt_tokens + spent.completion_tokens
        self.spent = Usage(tokens, round(self.spent.usd + prices.usd(spent), 6))


def unbacked(answer: str, view: View) -> list[str]:
    """What of an answer the evidence does not hold, in sentences; empty where all of it stands."""
    known = Installed.of(view.facts).catalogue
    causes = {hypothesis.cause_id for hypothesis in view.board.hypotheses}
    grounds = Grounds(view.evidence, known.by_spelling if known is not None else {}, causes)
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", answer):
        cites = tuple(dict.fromkeys(_CITED.findall(paragraph)))
        words = " ".join(_CITED.sub("", paragraph).replace("`", "").split())[:400]
        if re.search(r"\d|--", _IDS.sub("", words)):
            found += problems(Statement(words, cites), grounds)
        if says_to_act(words):
            found.append("it holds a command, a path or an address, which are its own and not ppagent's")
    return list(dict.fromkeys(found))


def without_thoughts(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces without what stands between <think> marks, which some models write into their answer."""
    text, given = "", 0
    for piece in pieces:
        text += piece
        said = _THINK.sub("", text)
        opening = said.rfind("<")
        ready = said[:opening] if opening >= 0 and "<think>".startswith(said[opening:]) else said
        if len(ready) > given:
            yield ready[given:]
            given = len(ready)
        if len(text) > LONGEST_ANSWER:
            return
    rest = _THINK.sub("", text)[given:]
    if rest:
        yield rest


def _asked(client: Any, profile: ModelProfile, messages: list[dict[str, str]], abilities: Abilities) -> Iterator[str]:
    """One request and the text of its answer."""
    model = profile.model or next((served.id for served in client.models.list(timeout=profile.timeout_s)), "")
    limit = "max_tokens" if abilities.max_tokens else "max_completion_tokens"
    body = {"model": model, "messages": messages, "stream": abilities.stream, limit: profile.reply_tokens}
    answer = client.chat.completions.create(**body, timeout=profile.timeout_s)
    if not abilities.stream:
        yield answer.choices[0].message.content or "" if answer.choices else ""
        return
    with answer as chunks:
        yield from _texts(chunks)


def _texts(chunks: Iterable[Any]) -> Iterator[str]:
    for chunk in chunks:
        for choice in getattr(chunk, "choices", None) or ():
            text = getattr(getattr(choice, "delta", None), "content", None)
            if isinstance(text, str) and text:
                yield text


def _plan_shown(plan: Plan) -> str:
    lines = []
    for step in steps_of(plan.proposals):
        forecasts = [text for label, text in step.notes if label == "forecast"]
        lines.append(f"{step.id} ({step.heading.lower()}): {step.title}; forecast {' '.join(forecasts) or 'none'}")
    lines += [f"not the cure: {declined.lever}: {declined.why}" for declined in plan.declined]
    return "\n".join(lines) or "none"
