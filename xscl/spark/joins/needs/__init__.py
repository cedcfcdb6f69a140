"""What one match needs: `needs` says of a query how many documents, `reach` from how long, `keys`
with which key.  The cells of a batch or a stream result from it."""

from xscl.spark.joins.needs.needs import MIDDLE, Needs, is_middle, needs_of

__all__ = ["MIDDLE", "Needs", "is_middle", "needs_of"]
