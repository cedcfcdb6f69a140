"""What is reported immediately and may be taken back: patterns and event queries under `middle`."""

from __future__ import annotations

from xscl.pattern_stage.revising.patterns import RevisingStage
from xscl.pattern_stage.revising.plans import RevisingPlans

__all__ = ["RevisingPlans", "RevisingStage"]
