"""Why documents match a composition, or do not.

composites.py  a composition, documents -> the events of its blocks, the composites of its parts
judge.py       a composition and documents for its events -> its conditions, its successors, scopes
funnel.py      a composition, many documents -> how many composites come through each step
hint.py        a composition that has found nothing -> what it reads
"""

from xscl.why.compositions.funnel import funnel_of_composition
from xscl.why.compositions.hint import read_by_composition
from xscl.why.compositions.judge import why_composition

__all__ = ["funnel_of_composition", "read_by_composition", "why_composition"]
