"""ppagent chat: a session in the terminal."""

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from ppagent.cli.common import BRAIN_HELP, CEILING_HELP, PORT, TARGET_HELP, NumberFrom, note
from ppagent.errors import ExitStatus, UserError

if TYPE_CHECKING:
    from ppagent.agent.budget import Budget
    from ppagent.chat.halt import Halt
    from ppagent.chat.opening import Options
    from ppagent.chat.session import Session

NAME = "chat"
HELP = """A session in the terminal: ask in your own words, look at the evidence, try what is proposed.

  ppagent chat TARGET
      begin
  ppagent chat --resume [ID]
      go on, the newest session by default
  ppagent chat TARGET --resume
      go on, the newest session about that target
  echo "why is it slow?" | ppagent chat TARGET
      answer once, ask nobody, and end

/help lists the commands of a session. It is kept, step by step, until you remove its file."""
GRADES = range(6)
NEWEST = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", metavar="TARGET", nargs="?", help=TARGET_HELP)
    add("--resume", nargs="?", const=NEWEST, metavar="ID", help="go on with a kept session, the newest by default")
    add("--port", type=PORT, metavar="N", help="the server's HTTP port on its host")
    add("--brain", choices=("auto", "rules", "llm"), default="auto", help=f"who chooses what to look at: {BRAIN_HELP}")
    add("--model", default="", metavar="NAME", help="a model, or a profile of the configuration (docs/llm.md)")
    add("--base-url", default="", metavar="URL", help="OpenAI-compatible endpoint that serves it (OPENAI_BASE_URL)")
    add("--ceiling", type=int, choices=GRADES, default=2, help=CEILING_HELP)
    add("--max-steps", type=NumberFrom(1, "steps", whole=True), metavar="N", help="tools asked for one question (60)")
    add("--max-seconds", type=NumberFrom(0, "seconds"), metavar="S", help="time for one question (900)")
    add("--max-cost", type=NumberFrom(0, "USD"), metavar="USD", help="cost of a model in the session (2)")


def run(args: argparse.Namespace) -> int:
    if args.target is None and args.resume is None:
        raise UserError("Give a TARGET, or --resume.", "Try: ppagent chat evals/incidents/NAME, or --resume.")
    if args.target is not None and args.resume:
        raise UserError("A session knows its target.", f"Leave it out: ppagent chat --resume {args.resume}.")
    if sys.stdin.isatty() and not sys.stdout.isatty():
        raise UserError("There is no terminal to talk on.", 'Pipe a question in: echo "why?" | ppagent chat TARGET.')
    from ppagent.chat.halt import Halt

    halt, status = Halt(), int(ExitStatus.CANCELLED)
    try:
        with halt.told_to_end():
            status = _guarded_talk(args, halt) if sys.stdin.isatty() else _once(args, halt)
    except KeyboardInterrupt:
        if not halt.ended_by:
            raise
    return 128 + halt.ended_by if halt.ended_by else status


def _guarded_talk(args: argparse.Namespace, halt: "Halt") -> int:
    from ppagent.chat.guard import guarded

    with guarded():
        return _talk(args, halt)


def _once(args: argparse.Namespace, halt: "Halt") -> int:
    from ppagent.chat.once import answer_once, question_from
    from ppagent.chat.screen import PlainScreen, TerminalScreen
    from ppagent.cli.diagnose import exit_status

    options = _options(args, TerminalScreen() if sys.stdout.isatty() else PlainScreen(), halt)
    question = question_from(sys.stdin, args.target or "")
    session = _opened(args, options)
    session.terse = True
    answer_once(session, question)
    asked = session.state["stopped"] and not question.startswith("/")
    return exit_status(session.found()) if asked else ExitStatus.OK


def _talk(args: argparse.Namespace, halt: "Halt") -> int:
    from ppagent.chat.completion import SessionCompleter
    from ppagent.chat.loop import greeting, talk
    from ppagent.chat.opening import leave
    from ppagent.chat.prompt import Prompt
    from ppagent.chat.screen import TerminalScreen
    from ppagent.targets.remote.asking import STAGE

    completer, screen = SessionCompleter(), TerminalScreen()
    person = Prompt(completer)
    STAGE.aside = screen.aside
    options = replace(_options(args, screen, halt), dialog=person)
    session = _opened(args, options)
    screen.show(greeting(session))
    while True:
        completer.session = session
        wanted = talk(session, person)
        if wanted is None:
            break
        other = _another(wanted, options)
        if other is not None:
            leave(session)
            session = other
            screen.show(greeting(session))
    said = leave(session)
    if said:
        note(said)
    return ExitStatus.OK


def _another(session_id: str, options: "Options") -> "Session | None":
    """The other session; None, and why, where it cannot be taken up."""
    from ppagent.chat.opening import take_up
    from ppagent.report.lines import wrapped

    try:
        return take_up(session_id, options)
    except UserError as error:
        options.screen.show(wrapped(str(error), options.screen.width, tone="bad"))
        return None


def _opened(args: argparse.Namespace, options: "Options") -> "Session":
    from ppagent.chat.opening import begin, lasting_name, take_up
    from ppagent.chat.store import newest_about

    if args.resume is None:
        return begin(args.target, options)
    return take_up(args.resume if args.target is None else newest_about(lasting_name(args.target)), options)


def _options(args: argparse.Namespace, screen: object, halt: "Halt") -> "Options":
    from ppagent.brains.brain import brain_of
    from ppagent.chat.opening import Options
    from ppagent.config import profile_of
    from ppagent.plugins import Grade

    profile = None if args.brain == "rules" else profile_of(args.model, args.base_url)
    if profile is None and args.brain == "llm":
        raise UserError("No model is named.", "Give --model or --base-url, or use --brain rules.")
    return Options(
        screen=screen,  # type: ignore[arg-type]
        brain=lambda recorder: brain_of("llm", model=args.model, base_url=args.base_url, recorder=recorder),
        profile=profile,
        ceiling=Grade(args.ceiling),
        budget=_budget(args),
        port=args.port,
        stdin=sys.stdin,
        halt=halt,
    )


def _budget(args: argparse.Namespace) -> "Budget":
    from ppagent.agent.budget import Budget

    given = {"steps": args.max_steps, "seconds": args.max_seconds, "usd": args.max_cost}
    return replace(Budget(), **{name: value for name, value in given.items() if value is not None})
