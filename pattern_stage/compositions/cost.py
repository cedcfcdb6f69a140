"""What operators cost: Table 1 of NEXT CEP (Schultz-Møller et al., section 4.1), with the size of a
union's bursts as a mean.

Rates are in events a second, times in seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, isinf

__all__ = [
    "UNKNOWN",
    "Flow",
    "Rates",
    "exception",
    "iteration",
    "joined_by",
    "selection",
    "sequence",
    "source",
    "union",
]

UNKNOWN = 1.0
"""The rate of a source of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Events a second: of sources by `Event.type`, and as measured of selections and iterations by
    their canonical forms."""

    events: Mapping[int, float] = field(default_factory=dict)
    passing: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for rates in (self.events, self.passing):
            for name, rate in rates.items():
                if not 0 < rate < inf:
                    raise ValueError(f"the rate of {name} is {rate:g}; it must be above 0")


@dataclass(frozen=True, slots=True)
class Flow:
    """The worst-case output of an operator: rate µ, detection time DT, size b and rate r of its
    bursts."""

    mu: float
    detection_time: float
    burst_size: float
    burst_rate: float

    @classmethod
    def of_rate(cls, mu: float) -> Flow:
        """Single events at a rate."""
        return cls(mu, 1 / mu, 1.0, mu)

    @property
    def unbounded(self) -> bool:
        """Whether nothing bounds its rate or its bursts."""
        return isinf(self.mu) or isinf(self.burst_size)


Costed = tuple[Flow, float]
"""The output of an operator, and its own CPU."""


def source(mu: float) -> Costed:
    """Events as they come."""
    return Flow.of_rate(mu), 0.0


def selection(one: Flow, passing: float | None = None) -> Costed:
    """σ; `passing` is the rate measured behind it."""
    if passing is None:
        return one, one.mu
    return Flow(passing, 1 / passing, one.burst_size, passing), one.mu


def exception(one: Flow, forbidden: Flow) -> Costed:
    r"""`E1 \\ E2`."""
    return one, one.mu + forbidden.mu


def union(one: Flow, other: Flow) -> Costed:
    """`E1 | E2`."""
    mu, rate = one.mu + other.mu, one.burst_rate + other.burst_rate
    if isinf(rate):
        return Flow(mu, 0.0, inf, inf), mu
    sizes = one.burst_size * one.burst_rate + other.burst_size * other.burst_rate
    return Flow(mu, 1 / rate, sizes / rate, rate), mu


def sequence(one: Flow, other: Flow) -> Costed:
    """`E1 ; E2`."""
    time = one.detection_time + other.detection_time
    if one.unbounded or other.unbounded:
        return Flow(one.mu, time, inf, inf), inf
    size, rate = joined_by(one.burst_size, one.burst_rate, one.detection_time, other.detection_time)
    cpu = (
        one.mu
        + other.detection_time
        / one.detection_time
        * one.burst_size
        * other.burst_size
        * other.burst_rate
        + max(other.burst_rate - one.burst_rate, 0) * other.burst_size
    )
    return Flow(one.mu, time, size, rate), cpu


def joined_by(size: float, rate: float, time: float, other_time: float) -> tuple[float, float]:
    """Burst size and rate of `E1 ; E2`, given those of E1 and the detection times of both."""
    return size * rate * other_time, 1 / max(time, other_time)


def iteration(one: Flow, measured: float | None = None) -> Costed:
    """`E+`; with a rate that is `measured`, one step for each event and one for each output."""
    if measured is None:
        return Flow(inf, one.detection_time, inf, inf), inf
    return Flow.of_rate(measured), one.mu + measured
