"""The numbers of a service in the form that Prometheus reads: those of its requests, which are
measured as they come, and those of its engine, which are asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

if TYPE_CHECKING:
    from xscl.serve.service import Service

__all__ = ["Measured", "Metrics"]

_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"})

_QUERIES = 1_000
"""Queries that have numbers of their own, as each is a series of its own."""

_SIZES = {
    "documents": "Documents that are retained.",
    "composites": "Composites that are retained.",
    "witnesses": "Witnesses that are retained.",
    "strings": "Strings that are retained.",
    "bytes": "Bytes of the documents that are retained.",
    "queries": "Queries.",
    "templates": "Templates of the queries.",
}


class Metrics:
    """The numbers of a service; `requests` measures its requests, in seconds."""

    def __init__(self, service: Service) -> None:
        self._registry = CollectorRegistry()
        self.requests = Histogram(
            "xscl_request_seconds",
            "Requests, by route and status, but for events.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        ProcessCollector(registry=self._registry)
        self._numbers = _Numbers(service)
        self._registry.register(self._numbers)

    def text(self, stats: dict[str, Any]) -> bytes:
        """All numbers, given those of the engine."""
        self._numbers.stats = stats
        return generate_latest(self._registry)


class Measured:
    """An application whose requests are measured, but for those of events, which have no end."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, and measures that."""
        started, status = time.perf_counter(), "none"

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                events = (b"content-type", b"text/event-stream; charset=utf-8")
                status = "events" if events in message["headers"] else str(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            if status != "events":
                route = getattr(scope.get("route"), "path_format", "none")
                # Of anybody's own methods there is no end.
                method = scope["method"] if scope["method"] in _METHODS else "other"
                measure = self._metrics.requests.labels(method, route, status)
                measure.observe(time.perf_counter() - started)


class _Numbers(Collector):
    def __init__(self, service: Service) -> None:
        self._service = service
        self.stats: dict[str, Any] = {}

    def describe(self) -> Iterator[Metric]:
        yield from ()

    def collect(self) -> Iterator[Metric]:
        service, stats = self._service, self.stats
        for name, about in _SIZES.items():
            yield _gauge(name, about, stats.get(name, 0))
        yield _counter("taken", "Documents that were ingested.", stats.get("taken", 0))
        skipped = CounterMetricFamily("xscl_skipped", "Documents that were not.", labels=["reason"])
        for reason, number in stats.get("skipped", {}).items():
            skipped.add_metric([reason], number)
        yield skipped
        yield _counter("matches", "Matches that were found.", service.found)
        lost = service.engine.unwritten
        yield _counter("unwritten", "Matches that could not be written.", lost)
        by_query = CounterMetricFamily("xscl_query_matches", "Those of a query.", labels=["query"])
        for query, tally in service.tallies.items()[:_QUERIES]:
            by_query.add_metric([query], tally.matches)
        yield by_query
        yield _gauge("readers", "Those who read events.", service.news.readers)
        yield _gauge("waiting", "Requests that wait for the engine.", service.engine.waiting)
        feeds = GaugeMetricFamily("xscl_feed_failures", "Since its last success.", labels=["feed"])
        for feed in service.feeds.health() if service.feeds is not None else ():
            feeds.add_metric([feed.state.address], feed.state.failures)
        yield feeds


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(f"xscl_{name}", about, value)


def _counter(name: str, about: str, value: float) -> Metric:
    return CounterMetricFamily(f"xscl_{name}", about, value)
