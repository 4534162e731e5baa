"""Why a forecast does not tell whether a change helps, and what would let it be told."""

from ppagent.model.forecast import Effect, Forecast
from ppagent.model.slots import line_at_fill
from ppagent.model.whatif import Server

TRY_IT = "a trial on the server (ppagent try)"


def why_untold(forecast: Forecast, server: Server) -> str:
    """Both in a sentence; empty where the forecast tells."""
    if forecast.effect != Effect.CANNOT_TELL:
        return ""
    because, what = _open(forecast, server)
    says = f"the range reaches from below to above the {forecast.baseline:.3g} tok/s of now"
    return f"{says}{f', because {because}' if because else ''}. What would tell: {what}"


def _open(forecast: Forecast, server: Server) -> tuple[str, str]:
    """What leaves the range wide, and what would narrow it; the reason that weighs most."""
    at = forecast.at_concurrency
    now = server.deployment(at)
    least, most = (now.filled(at, fill) for fill in now.fill)
    if line_at_fill(now.levels, now.fill[0], now.slots, now.slot_limit) is None:
        return "how a turn grows with the requests in a slot was not measured", f"two more load levels, or {TRY_IT}"
    if most > least:
        count = "#running-req on stage 0's decode lines, line by line, at a known load"
        return f"{least:.2g} to {most:.2g} slots may be filled now", f"{count}, or {TRY_IT}"
    return "", TRY_IT
