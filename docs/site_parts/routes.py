"""The routes of `xscl serve` -> sections of a page, from what a server says of itself (OpenAPI)."""

from __future__ import annotations

from collections.abc import Iterator
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
    for tag, operations in tagged.items():
        yield f"\n## Routes: {tag}\n"
        for method, path, operation in operations:
            yield f"\n### {method} {path}\n"
            yield from _operation(operation)
    yield "\n## Objects\n"
    for name, schema in api["components"]["schemas"].items():
        yield f"\n### {name}\n"
        yield _prose(schema)
        rows = [
            (member, _type(one), member in schema.get("required", ()), _prose(one))
            for member, one in schema.get("properties", {}).items()
        ]
        yield from _table("member", rows)


def _operation(operation: dict[str, Any]) -> Iterator[str]:
    yield _prose(operation)
    rows = [
        (one["name"], _type(one["schema"]), one["required"], _prose(one))
        for one in operation.get("parameters", ())
    ]
    yield from _table("parameter", rows)
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        yield f"\nBody: {_type(body['schema'])} (`{kind}`)."
    yield "\n| status | answer |\n| --- | --- |"
    for status, answer in operation["responses"].items():
        kinds = [
            f"{_type(body['schema'])} (`{kind}`)" if body.get("schema") else f"`{kind}`"
            for kind, body in answer.get("content", {}).items()
        ]
        error = int(status) >= 400
        said = _cell(answer["description"]) if error else ", ".join(kinds) or "nothing"
        yield f"| {status} | {said} |"


def _table(what: str, rows: list[tuple[str, str, bool, str]]) -> Iterator[str]:
    if rows:
        yield f"\n| {what} | type | meaning |\n| --- | --- | --- |"
        for name, kind, required, meaning in rows:
            said = ", ".join(filter(None, ("required" if required else "", _cell(meaning))))
            yield f"| `{name}` | {_cell(kind)} | {said} |"


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
