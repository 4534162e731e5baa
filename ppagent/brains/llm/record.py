"""Messages and calls as JSON for the session's record, secrets masked once more."""

from collections.abc import Sequence
from typing import Any

from ppagent.brains.llm.model import Called, Message
from ppagent.evidence.masking import mask


def messages_as_data(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [
        {"role": message.role, "text": mask(message.text), "calls": calls_as_data(message.calls)}
        | ({"call_id": message.call_id} if message.call_id else {})
        for message in messages
    ]


def calls_as_data(calls: Sequence[Called]) -> list[dict[str, str]]:
    return [{"id": call.id, "name": call.name, "arguments": mask(call.arguments)} for call in calls]
