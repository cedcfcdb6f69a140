"""The application: the routes of `xscl.serve.routes`, behind the gate, with errors as answers."""

from __future__ import annotations

from importlib import import_module

from fastapi import FastAPI

from xscl.serve.event_stream import News
from xscl.serve.problems import answer_errors
from xscl.serve.safety import Gate, Safety
from xscl.serve.service import Service
from xscl.version import __version__

__all__ = ["ROUTES", "application"]

ROUTES = (
    "queries",
    "trying",
    "looking",
    "streams",
    "matches",
    "feeds",
    "numbers",
    "session",
    "page",
)
"""The modules of `xscl.serve.routes`; each has a `router`."""


def application(service: Service, gate: Gate, news: News) -> Safety:
    """The application of a service, whose readers of events `news` wakes."""
    # Its pages of documentation would load scripts from elsewhere.
    app = FastAPI(title="XSCL", version=__version__, docs_url=None, redoc_url=None)
    app.state.service = service
    app.state.gate = gate
    app.state.news = news
    for name in ROUTES:
        app.include_router(import_module(f"xscl.serve.routes.{name}").router)
    answer_errors(app)
    return Safety(app, gate, service.limits.max_body)
