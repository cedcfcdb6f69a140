"""`xscl feeds add`: the address of a feed, or of a web page that names one, into an OPML file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import click

from xscl.cli.options import AllowPrivate, Contact, group, option, takes
from xscl.counts import counted
from xscl.errors import XSCLError
from xscl.feeds import NotAFeed, Outline, parse_feed, read_opml
from xscl.feeds.opml import EMPTY_OPML, with_feed
from xscl.files.whole import replace_file
from xscl.polling.finding import find_feed
from xscl.sources.limits import MAX_DOCUMENT
from xscl.version import __version__
from xscl.web.exchange import Validators
from xscl.web.proxies import ProxySettings
from xscl.web.retrieval import HTTPRetrieval, RetrievalError, user_agent
from xscl.web.targets import BadAddress, feed_address, target, without_user

__all__ = ["add"]

_URLS = click.argument("urls", nargs=-1, required=True, metavar="URL...")
_SCHEME = re.compile("[a-z][a-z0-9+.-]*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The argument and the options of `xscl feeds add`."""

    urls: Annotated[Sequence[str], group(_URLS)]
    opml: Annotated[
        str,
        option(
            "The file that the feed is added to, made if need be.",
            default="feeds.opml",
            type=click.Path(dir_okay=False),
            metavar="FILE",
        ),
    ]
    folder: Annotated[
        str | None, option("The folder in the OPML file for the feed.", metavar="NAME")
    ]
    contact: Contact
    allow_private: AllowPrivate


@click.command()
@takes(Options)
def add(options: Options) -> int:
    """Adds feeds to an OPML file.

    URL is the address of a feed, or of a web page that names one.  `xscl watch --feed S=FILE` polls
    the feeds of the file.
    """
    path = Path(options.opml)
    body = path.read_bytes() if path.exists() else EMPTY_OPML
    try:
        listed = read_opml(body)
    except ValueError as error:
        raise XSCLError(
            f"{path}: it {error}; give an OPML file, or the name of a new one"
        ) from None
    known = {without_user(feed.address).partition("#")[0] for feed in listed}
    try:
        agent, proxies = user_agent(__version__, options.contact), ProxySettings.of_environment()
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    retrieval = HTTPRetrieval(agent, options.allow_private, limit=MAX_DOCUMENT, proxies=proxies)
    added = wrong = 0
    for url in options.urls:
        try:
            feed, site = _read(url if _SCHEME.match(url) else f"https://{url}", retrieval)
        except (BadAddress, NotAFeed, RetrievalError) as error:
            click.echo(f"{without_user(url)}: {error}", err=True)
            wrong += 1
            continue
        name = without_user(feed.address)
        if given := {name, without_user(url).partition("#")[0]} & known:
            name = min(given)
            click.echo(f"{name} is in {path} already")
            continue
        try:
            body = with_feed(body, feed, site=site, folder=options.folder)
        except ValueError as error:
            raise XSCLError(f"{path}: it {error}") from None
        replace_file(path, body)
        known.add(name)
        added += 1
        click.echo(f"added to {path}: {feed.title or 'a feed without a title'}, {name}")
    if added:
        click.echo(
            f"{counted(len(known), 'feed')} in {path}: `xscl watch QUERIES --feed S={path}` polls "
            "them; a watch that is running does when it is started again"
        )
    return int(wrong > 0)


def _read(url: str, retrieval: HTTPRetrieval) -> tuple[Outline, str]:
    """The feed at an address, or the one that a page there names; and the address of its site."""
    address, credentials = feed_address(url)
    response = retrieval(address, Validators(), credentials)
    if response.status != 200:
        raise NotAFeed(f"the server answered {response.status}")
    ask = partial(retrieval, validators=Validators(), credentials=credentials)
    try:
        found = find_feed(response, address, parse_feed, ask)
    except NotAFeed as error:
        raise NotAFeed(f"what is there {error}") from error
    if found.led_to is not None:
        click.echo(f"{address} is a web page; the feed that it names: {found.led_to}")
    place = found.response.moved_to or address
    # A password stays in the file: without it nobody could read the feed.
    if credentials is not None and credentials.may_go_to(target(place)):
        user = urlsplit(url).netloc.rpartition("@")[0]
        place = place.replace("://", f"://{user}@", 1)
    feed = found.feed.feed
    return Outline(place, feed.title), feed.site
