"""Completion: commands, and what stands behind them - ids of causes, evidence, proposals and sessions, and flags."""

import re
from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from ppagent.chat.commands.command import Completes
from ppagent.chat.session import Session
from ppagent.chat.store import conversations

_WORD = re.compile(r"\S*$")


class SessionCompleter(Completer):
    """Looks at the session of the moment, which may change."""

    session: Session | None = None

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor
        match = _WORD.search(before)
        word = match.group() if match else ""
        for candidate in self._candidates(self.session, before, word) if self.session is not None else ():
            if candidate.lower().startswith(word.lower()):
                yield Completion(candidate, start_position=-len(word))

    def _candidates(self, session: Session, before: str, word: str) -> Iterable[str]:
        from ppagent.chat.commands.registry import BY_NAME

        if word.startswith("--"):
            return flags(session)
        if before.startswith("/") and " " not in before:
            return [f"/{name}" for name in sorted(BY_NAME)]
        if before.startswith("/"):
            command = BY_NAME.get(before[1:].split(" ", 1)[0])
            return self._arguments(session, command.completes) if command is not None else ()
        return self._arguments(session, "causes") if re.fullmatch(r"[A-Za-z]{2}\d{0,3}", word) else ()

    def _arguments(self, session: Session, completes: Completes) -> Iterable[str]:
        from ppagent.causes.catalog import all_causes
        from ppagent.chat.commands.registry import BY_NAME

        match completes:
            case "causes":
                return [*(cause.id for cause in all_causes()), *(h.id for h in session.desk.board().hypotheses)]
            case "evidence":
                return [item.id for item in (*session.archive, *session.desk.ledger.evidence)]
            case "proposals":
                return [proposal.id for proposal in session.found().plan.proposals]
            case "settings":
                return [*flags(session), "limit ", "graphs on", "C="]
            case "sessions":
                return [kept.id for kept in conversations()]
            case "exports":
                return ["recording ", "case ", "html", "markdown"]
            case "commands":
                return sorted(BY_NAME)
            case "brains":
                return ["rules"]
            case _:
                return ()


def flags(session: Session) -> list[str]:
    """Launch flags of the installation, of the newest version that is known where it does not say which it is."""
    from ppagent.changes.commands import Installed
    from ppagent.sglang.flags.history import catalogue_of, versions_known

    catalogue = Installed.of(session.desk.facts()).catalogue or catalogue_of(versions_known()[-1])
    return sorted(catalogue.by_spelling)
