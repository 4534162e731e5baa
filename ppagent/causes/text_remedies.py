"""What can be done about text that is made too slowly."""

from ppagent.causes.cause import Change, Remedy
from ppagent.causes.flag_history import installed_catalogue
from ppagent.evidence.facts import Facts
from ppagent.sglang.legality.renames import renamed

_WORKER_FLAGS = ("--tokenizer-worker-num", "--detokenizer-worker-num")


def fast_tokenizer(cause: str, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        cause,
        "operator",
        "Give the model a fast tokenizer (tokenizer.json) and name it with --tokenizer-path",
        Change(),
        cites,
        risks=("another tokenizer must give the same token ids; compare some prompts",),
        verify="the slow-tokenizer warning is gone and the client's time between tokens meets the engine's",
        rollback="the tokenizer of before",
    )


def no_tokenizer(cause: str, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        cause,
        "relaunch",
        "Leave text to the client: take and return token ids",
        Change(set={"--skip-tokenizer-init": "true"}),
        cites,
        risks=("clients must send and read token ids; chat endpoints and stop strings no longer work",),
        verify="the client's time between tokens meets the engine's",
        rollback="leave --skip-tokenizer-init out",
        alone=True,
    )


def larger_pieces(cause: str, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        cause,
        "relaunch",
        "Stream in pieces of eight tokens instead of one",
        Change(set={"--stream-interval": "8"}),
        cites,
        risks=("text arrives in larger pieces, less often",),
        verify="the detokenizer's process falls below a full core and the end-to-end time with it",
        rollback="--stream-interval 1",
        alone=True,
    )


def more_workers(cause: str, facts: Facts, cites: tuple[str, ...]) -> Remedy:
    """More workers on the way in and out, as far as the installation has both: tokenizers can be several from 0.5.2,
    detokenizers from 0.5.12. Both flags where it has neither, to be declined by their names."""
    installed = installed_catalogue(facts)
    there = tuple(flag for flag in _WORKER_FLAGS if renamed(flag, installed) is not None) or _WORKER_FLAGS
    return Remedy(
        cause,
        "relaunch",
        "Share the text work among several processes",
        Change(set=dict.fromkeys(there, "4")),
        cites,
        risks=("more processes on the host; a slow tokenizer stays slow in each",),
        verify="no text process stays at a full core",
        rollback="one worker each",
        alone=True,
    )
