"""The application: the routes of `xscl.serve.routes`, behind the gate, with errors as answers."""

from __future__ import annotations

from importlib import import_module

from fastapi import FastAPI

from xscl.serve.metrics import Measured
from xscl.serve.openapi import describe
from xscl.serve.paths import Paths
from xscl.serve.problems import answer_errors
from xscl.serve.safety import Gate, Safety
from xscl.serve.service import Service
from xscl.version import __version__

__all__ = ["ROUTES", "application"]

ROUTES = (
    "streams",
    "matches",
    "queries",
    "arcs",
    "trying",
    "looking",
    "feeds",
    "numbers",
    "session",
    "page",
)
"""The modules of `xscl.serve.routes`; each has a `router`.  They are asked in this order,
so those of many requests come first."""


def application(service: Service, gate: Gate) -> Measured:
    """The application of a service."""
    # Its pages of documentation would load scripts from elsewhere.
    app = FastAPI(
        title="XSCL",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
    )
    app.state.service = service
    app.state.gate = gate
    for name in ROUTES:
        app.include_router(import_module(f"xscl.serve.routes.{name}").router)
    answer_errors(app)
    describe(app, gate)
    return Measured(Safety(Paths(app), gate, service.limits.max_body), service.metrics)
