"""From a posterior to the confidence that is told: one monotone map, fitted on recorded incidents.

Observations share causes and are counted as independent, so a posterior says too little or too much. States are
computed from posteriors; the map only changes the number beside them. `ppagent_evals.calibrate` fits it and writes
`calibration.json` with what it was fitted on; scale 1 and shift 0 leave a posterior as it is.
"""

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PATH = Path(__file__).with_name("calibration.json")


MOST_LOG_ODDS = 4.6
"""No more than 0.99 is told of anything, whatever was fitted: the incidents are too few for more."""


@dataclass(frozen=True)
class Calibration:
    """Log odds told = `scale` x log odds computed + `shift`; `scale` is above 0, so that no order changes."""

    scale: float = 1.0
    shift: float = 0.0

    def told(self, posterior: float) -> float:
        """The confidence that is told for a posterior between 0 and 1, both excluded."""
        log_odds = self.scale * math.log(posterior / (1 - posterior)) + self.shift
        return 1 / (1 + math.exp(-max(-MOST_LOG_ODDS, min(MOST_LOG_ODDS, log_odds))))


@cache
def calibration() -> Calibration:
    """The map of this version."""
    fitted = json.loads(PATH.read_text(encoding="utf-8"))
    return Calibration(float(fitted["scale"]), float(fitted["shift"]))
