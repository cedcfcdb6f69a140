"""The routes of `xscl serve` -> sections of a page, from what a server says of itself (OpenAPI)."""

from __future__ import annotations

from collections.abc import Iterator, Set
from importlib import import_module
from typing import Any

from fastapi import FastAPI

from xscl.serve.app import ROUTES
from xscl.serve.openapi import describe
from xscl.serve.safety import LOOPBACK, Gate

__all__ = ["described"]


def described() -> str:
    """All routes, and the objects that they read and return, as Markdown."""
    app = FastAPI(title="XSCL", separate_input_output_schemas=False)
    for name in ROUTES:
        app.include_router(import_module(f"xscl.serve.routes.{name}").router)
    describe(app, Gate(LOOPBACK))
    return "\n".join(_lines(app.openapi()))


def _lines(api: dict[str, Any]) -> Iterator[str]:
    tagged: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            (tag,) = operation["tags"]
            tagged.setdefault(tag, []).append((method.upper(), path, operation))
    every = [one for operations in tagged.values() for _, _, one in operations]
    shared = {
        "every route": _common(every),
        "every route with a body": _common([one for one in every if "requestBody" in one]),
    }
    yield "\n| status | answered by | meaning |\n| --- | --- | --- |"
    said = {status: where for where in reversed(shared) for status in shared[where]}
    for status, where in sorted(said.items()):
        yield f"| {status} | {where} | {_cell(shared[where][status])} |"
    for tag, operations in tagged.items():
        yield f"\n## Routes: {tag}\n"
        for method, path, operation in operations:
            yield f"\n### {method} {path}\n"
            yield from _operation(operation, said.keys())
    yield "\n## Objects\n"
    for name, schema in api["components"]["schemas"].items():
        yield f"\n### {name}\n"
        yield _prose(schema)
        rows = [
            (member, _type(one), member in schema.get("required", ()), _prose(one))
            for member, one in schema.get("properties", {}).items()
        ]
        yield from _table("member", rows)


def _common(operations: list[dict[str, Any]]) -> dict[str, str]:
    """The errors that all operations answer with, and what they mean."""
    first, *others = (one["responses"] for one in operations)
    return {
        status: answer["description"]
        for status, answer in first.items()
        if int(status) >= 400 and all(status in other for other in others)
    }


def _operation(operation: dict[str, Any], said: Set[str]) -> Iterator[str]:
    """One route; the errors that are `said` of several are left out."""
    yield _prose(operation)
    rows = [
        (one["name"], _type(one["schema"]), one["required"], _prose(one))
        for one in operation.get("parameters", ())
    ]
    yield from _table("parameter", rows)
    content = operation.get("requestBody", {}).get("content", {})
    bodies = [f"{_type(body['schema'])} (`{kind}`)" for kind, body in content.items()]
    if bodies:
        yield f"\nBody: {', '.join(bodies)}."
    yield "\n| status | answer |\n| --- | --- |"
    for status, answer in operation["responses"].items():
        if status in said:
            continue
        kinds = [
            f"{_type(body['schema'])} (`{kind}`)" if body.get("schema") else f"`{kind}`"
            for kind, body in answer.get("content", {}).items()
        ]
        error = int(status) >= 400
        says = _cell(answer["description"]) if error else ", ".join(kinds) or "nothing"
        yield f"| {status} | {says} |"


def _table(what: str, rows: list[tuple[str, str, bool, str]]) -> Iterator[str]:
    if rows:
        yield f"\n| {what} | type | meaning |\n| --- | --- | --- |"
        for name, kind, required, meaning in rows:
            says = " ".join(filter(None, (_cell(meaning), "Required." if required else "")))
            yield f"| `{name}` | {_cell(kind)} | {says} |"


def _type(schema: dict[str, Any]) -> str:
    """A type in words, with links to the objects."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(_type(one) for one in schema[several]))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{one}`" for one in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"array of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any JSON"))


def _prose(one: dict[str, Any]) -> str:
    return str(one.get("description", ""))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
