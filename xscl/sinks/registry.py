"""All sinks, by the names that the command line has for them.

Whoever adds one writes its module and enters it here: a form of a line for each match in
`LINE_FORMS`, one of a whole feed in `FEED_FORMS` (both are values of `--format`), something that
takes each match as it is found in `DELIVERIES` (an option of `xscl watch`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from xscl.matches.json_lines import json_lines
from xscl.matches.match import Match
from xscl.sinks.atom import update_atom, write_atom
from xscl.sinks.command import Command
from xscl.sinks.deliveries import Delivery
from xscl.sinks.json_feed import update_json_feed, write_json_feed
from xscl.sinks.webhook import Webhook
from xscl.web.proxies import ProxySettings

__all__ = ["DELIVERIES", "FEED_FORMS", "LINE_FORMS", "DeliveryOption", "title_of"]


@dataclass(frozen=True, slots=True)
class DeliveryOption:
    """The option `--name METAVAR`, and how its value becomes a delivery: `make` gets the value,
    the user agent and the proxies; it raises XSCLError for a value that cannot be meant."""

    name: str
    metavar: str
    help: str
    make: Callable[[str, bytes, ProxySettings], Delivery]


LINE_FORMS: Mapping[str, Callable[[Iterable[Match]], Iterable[str]]] = {"jsonl": json_lines}
"""How matches become lines, one for each."""

FEED_FORMS = {
    "atom": (write_atom, update_atom),
    "jsonfeed": (write_json_feed, update_json_feed),
}
"""How matches become a feed: at once, or kept in a file."""

DELIVERIES = (
    DeliveryOption(
        "exec",
        "CMD",
        "A command that is run for each match, which it reads as JSON on standard input.",
        lambda text, agent, proxies: Command.of(text),
    ),
    DeliveryOption(
        "webhook", "URL", "An address that each match is sent to, as JSON by POST.", Webhook.at
    ),
)
"""What takes each match as it is found."""


def title_of(queries: Iterable[str]) -> str:
    """The title of the feed of what the queries of some files find.

    >>> title_of(["news.xscl", "queries/follow-up.xscl"])
    'news, follow-up'
    """
    return ", ".join(Path(query).stem for query in queries)
