"""What the user says: the question, the sentences, and the figures in them."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache

import yaml
from pydantic import BaseModel, Field

from ppagent.errors import NotRecorded
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import Grade, Tool, ToolContext
from ppagent.targets.recording import ENDED_EARLY
from ppagent.targets.target import Shared
from ppagent_tools.reading import Document
from ppagent_tools.stated_figures import stated_figures
from ppagent_tools.stated_gpu import cards, stated_gpus
from ppagent_tools.stated_levels import Stated, stated_load

Facts = dict[str, FactValue]

_NO_FIGURE = re.compile(r"\d{16,}|\d{1,3}(?:,\d{3}){6,}")
"""Digits that are nobody's measurement."""
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!approx\.)(?<!ca\.)\s+")


_PIECE = re.compile(r"\S.{0,2999}(?!\S)|\S{1,3000}", re.DOTALL)
"""A sentence, or as much of one without end as can be searched for figures."""
_JOINT = re.compile(r"(?P<quote>')'+|[\s\\]+")
"""What YAML writes otherwise than it was said: doubled and escaped quotes, folded lines."""

LONGEST_YAML = 200_000
"""Nobody writes more; the YAML reader is slow enough for a larger file to be an attack."""


_MOST_BITS = 256


class StatedArguments(BaseModel, extra="forbid"):
    """Words that stand in no artifact."""

    question: str = Field(default="", description="what the user asks, where the target does not hold it")


class StatedFacts:
    name = "user.stated"
    summary = (
        "The user's question and statements, and the figures in them: measured levels, requests in flight, running "
        "requests a stage, power, utilisation, cards. The weakest evidence there is, and often the only one."
    )
    grade = Grade.READ_FILE
    provides: tuple[str, ...] = ("stated.", "engine.version", "recording.origin", "recording.gpus")
    arguments: type[BaseModel] = StatedArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        asked = StatedArguments.model_validate(arguments.model_dump()).question.strip()
        findings = _in_words(Document(asked, "question"), asked, []) if asked else []
        try:
            found = Document(context.target.shared(Shared.INCIDENT), Shared.INCIDENT.value)
        except NotRecorded:
            if not findings:
                raise
            return findings
        return findings + _incident(found, asked)


def tools() -> tuple[Tool, ...]:
    return (StatedFacts(),)


def _incident(found: Document, asked: str) -> list[Finding]:
    incident = _load(found)
    question = _scalar(incident.get("question")).strip()
    stated = incident.get("stated") or []
    if not isinstance(stated, list):
        raise found.error("`stated` is a list of sentences")
    sentences = [" ".join(said.split()) for sentence in stated if (said := _scalar(sentence))]
    findings = _in_words(found, "" if asked else question, sentences)
    return findings + _stack(found, incident) + _cut_short(found, incident)


def _cut_short(found: Document, incident: Mapping[str, object]) -> list[Finding]:
    """That the recording ended before it had all, in its own words: what it lacks was not absent on the server."""
    notes = incident.get("notes")
    said = [_scalar(note) for note in notes] if isinstance(notes, list) else []
    ended: list[FactValue] = [note.rstrip(".") for note in said if note.startswith(ENDED_EARLY)]
    return [found.finding({"tool.unread": ended}, verbatim(found.text, str(ended[0])))] if ended else []


def _scalar(value: object) -> str:
    """The text of a plain value. Of lists and mappings none: aliases can make them grow without end. Of a number that
    nobody states none: Python writes no integer of thousands of digits."""
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return ""
    return "" if value is None or isinstance(value, list | dict | set) else str(value)


def _load(found: Document) -> dict[str, object]:
    if len(found.text) > LONGEST_YAML:
        raise found.error(f"it is longer than {LONGEST_YAML} characters")
    try:
        value = yaml.safe_load(found.text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise found.error(f"no YAML: {error.problem}", line) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise found.error(f"no YAML: {error}") from error
    if not isinstance(value, dict):
        raise found.error("a mapping with `question` and `stated` was expected", 1)
    return {_scalar(key): item for key, item in value.items()}


def _in_words(found: Document, question: str, sentences: list[str]) -> list[Finding]:
    """A finding for the question, one for the sentences, and one for each sentence that holds figures."""
    findings: list[Finding] = []
    if question:
        findings.append(found.finding({"stated.question": question}, verbatim(found.text, question)))
    if sentences:
        said: list[FactValue] = list(sentences)
        findings.append(found.finding({"stated.sentences": said}, verbatim(found.text, sentences[0])))
    spoken = [*sentences, *_SENTENCE_END.split(" ".join(question.split()))]
    spoken = [piece for sentence in spoken for piece in _PIECE.findall(sentence)]
    figures = [_NO_FIGURE.sub("#", sentence) for sentence in spoken]
    loads = [stated_load(sentence) for sentence in figures]
    levels = _together(loads)
    most = max((load.in_flight for load in loads if load.in_flight is not None), default=None)
    told = [stated_figures(readable) for readable in figures]
    several = len({facts["engine.version"] for facts in told if "engine.version" in facts}) > 1
    for sentence, readable, load, figured in zip(spoken, figures, loads, told, strict=True):
        facts = _load_facts(load, most, levels) | stated_gpus(readable) | figured
        if several:  # one of before, of another machine, of somebody else: which one runs here is not said
            facts = {name: value for name, value in facts.items() if not name.startswith("engine.")}
        if load.levels and levels:
            levels = []
        if load.in_flight is not None and load.in_flight == most:
            most = None
        if facts:
            findings.append(found.finding(facts, verbatim(found.text, sentence)))
    return findings


def _together(loads: list[Stated]) -> list[FactValue]:
    """The levels of all sentences as one list, each concurrency once, so that a reader of one fact has them all."""
    seen: dict[object, FactValue] = {}
    for load in loads:
        for level in load.levels:
            seen.setdefault(level.get("concurrency"), level)
    return list(seen.values())


def _load_facts(load: Stated, most: float | None, levels: list[FactValue]) -> Facts:
    facts: Facts = {}
    if load.levels and levels:
        facts["stated.levels"] = levels
    if load.prior:
        facts["stated.prior_levels"] = list(load.prior)
    if load.in_flight is not None and load.in_flight == most:
        facts["stated.in_flight"] = int(most)
    return facts


def _stack(found: Document, incident: dict[str, object]) -> list[Finding]:
    """Version, cards and model as the recording's head names them, and how far its figures can be trusted."""
    findings: list[Finding] = []
    stack = incident.get("stack")
    told = {_scalar(k): _scalar(v) for k, v in stack.items()} if isinstance(stack, dict) else {}
    if told.get("version"):
        facts: Facts = {"engine.version": told["version"], "engine.source": "stated"}
        findings.append(found.finding(facts, verbatim(found.text, told["version"])))
    if told.get("gpus"):
        count, model = cards(told["gpus"])
        facts = {"recording.gpus": told["gpus"]}
        if count is not None and model:
            facts |= {"stated.gpu_count": count, "stated.gpu_model": _after_count(told["gpus"]) or model}
        findings.append(found.finding(facts, verbatim(found.text, told["gpus"])))
    if told.get("model"):
        findings.append(found.finding({"stated.model": told["model"]}, verbatim(found.text, told["model"])))
    origin = incident.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    if isinstance(kind, str):
        findings.append(found.finding({"recording.origin": kind}, verbatim(found.text, kind)))
    return findings


def _after_count(gpus: str) -> str:
    """`8x NVIDIA RTX PRO 6000 Blackwell 96 GB` without its count."""
    match = re.fullmatch(r"\s*\d+\s*(?:x|×)\s*(?P<model>[^,;]+).*", gpus)
    return match["model"].strip() if match and not re.match(r"\d+\s*(?:x|×)", match["model"]) else ""


def verbatim(text: str, words: str) -> str:
    """The piece of YAML text that says `words`, as it stands there: folded lines and doubled quotes included."""
    flat, in_flat, in_text = _flattened(text)
    wanted = _flattened(words)[0]
    at = flat.find(wanted)
    if at < 0 or not wanted:
        return ""
    begin, end = (
        place + in_text[piece] - in_flat[piece]
        for place in (at, at + len(wanted) - 1)
        for piece in (bisect_right(in_flat, place) - 1,)
    )
    return text[begin : end + 1]


@lru_cache(maxsize=8)
def _flattened(text: str) -> tuple[str, list[int], list[int]]:
    """The text without space and backslashes, quotes single, and where its pieces begin in it and in `text`."""
    pieces: list[str] = []
    in_flat, in_text, flat_at, at = [0], [0], 0, 0
    for joint in _JOINT.finditer(text):
        short = joint["quote"] or ""
        pieces += (text[at : joint.start()], short)
        flat_at += joint.start() - at + len(short)
        at = joint.end()
        in_flat.append(flat_at)
        in_text.append(at)
    return "".join((*pieces, text[at:])), in_flat, in_text
