"""A seed -> 6,000 rows of JSON: the lives of 1,500 parcels in nine days, each ordered, packed,
shipped, and delivered or returned."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta

__all__ = ["rows"]

PARCELS = 1_500
_BEGIN = datetime(2026, 6, 1, tzinfo=UTC)
_CITIES = ("Wexmoor", "Harbourton", "Linden", "Oxley", "Quayside")
_HOUR = 3_600


def rows(seed: int = 29) -> str:
    """The rows in order of time, as JSON Lines."""
    drawn = random.Random(seed)
    found = []
    for number in range(PARCELS):
        moment = drawn.randrange(9 * 24 * _HOUR)
        parcel, city = f"p{number}", drawn.choice(_CITIES)
        end = "returned" if drawn.random() < 0.05 else "delivered"
        for event in ("ordered", "packed", "shipped", end):
            row = {"parcel": parcel, "event": event, "city": city}
            if event == "ordered":
                row["price"] = drawn.randrange(5, 500)
            found.append((moment, row))
            moment += drawn.randrange(_HOUR, 48 * _HOUR)
    found.sort(key=lambda one: one[0])
    lines = [
        {"id": f"e{at}", "time": (_BEGIN + timedelta(seconds=moment)).isoformat(), **row}
        for at, (moment, row) in enumerate(found, 1)
    ]
    return "".join(f"{json.dumps(line)}\n" for line in lines)
