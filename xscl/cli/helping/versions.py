"""`xscl --version`: the version, and those of what results and state files depend on."""

from __future__ import annotations

import click

from xscl.version import __version__

__all__ = ["VERSION"]


def _show(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        import platform
        from importlib.metadata import version

        click.echo(
            f"xscl, version {__version__} (Python {platform.python_version()}, "
            f"DuckDB {version('duckdb')}, pyarrow {version('pyarrow')})"
        )
        context.exit()


VERSION = click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show,
    help="Show the versions of XSCL, Python, DuckDB and pyarrow.",
)
