"""All sinks, by the names that the command line has for them.

A new one has a module and an entry here: a form of a line for each match in
`LINE_FORMS`, one of a whole feed in `FEED_FORMS` (both are values of `--format`), something that
takes each match as it is found in `DELIVERIES` (an option of `xscl watch`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from xscl.matches.json_lines import json_lines
from xscl.sinks.atom import update_atom, write_atom
from xscl.sinks.command import Command
from xscl.sinks.deliveries import Delivery
from xscl.sinks.json_feed import update_json_feed, write_json_feed
from xscl.sinks.webhook_form import VARIABLE, body_form, headers_from

if TYPE_CHECKING:
    from xscl.matches.match import Match
    from xscl.sinks.webhook import Webhook
    from xscl.web.proxies import ProxySettings

__all__ = ["DELIVERIES", "FEED_FORMS", "LINE_FORMS", "DeliveryOption", "Means", "title_of"]


@dataclass(frozen=True, slots=True)
class Means:
    """What a delivery is made with: the user agent, the proxies, and the values of the further
    options of its own, by their whole names."""

    agent: bytes
    proxies: ProxySettings
    files: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class DeliveryOption:
    """The option `--name METAVAR`, and how its value becomes a delivery: `make` gets it with what
    else there is; it raises XSCLError for a value that cannot be meant.

    `files` are further options, `--name-FILE`, each with its help.
    """

    name: str
    metavar: str
    help: str
    make: Callable[[str, Means], Delivery]
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def options(self) -> Mapping[str, str]:
        """The further options by their whole names, without the dashes."""
        return {f"{self.name}-{file}": help for file, help in self.files.items()}


def _webhook(url: str, means: Means) -> Webhook:
    headers = headers_from(means.files["webhook-headers"])
    form = body_form(means.files["webhook-body"], headers.get("content-type"))
    from xscl.sinks.webhook import Webhook

    return Webhook.at(url, means.agent, means.proxies, headers=headers, form=form)


LINE_FORMS: Mapping[str, Callable[[Iterable[Match]], Iterable[bytes]]] = {"jsonl": json_lines}
"""How matches become lines in UTF-8, one for each."""

FEED_FORMS = {
    "atom": (write_atom, update_atom),
    "jsonfeed": (write_json_feed, update_json_feed),
}
"""How matches become a feed: in one go, or kept in a file."""

DELIVERIES = (
    DeliveryOption(
        "exec",
        "CMD",
        "A command that is run for each match, which it reads as JSON on standard input.",
        lambda text, means: Command.of(text),
    ),
    DeliveryOption(
        "webhook",
        "URL",
        "An address that each match is sent to, as JSON by POST.",
        _webhook,
        {
            "headers": "A file of headers for the webhook, a line `Name: value` each.  "
            f"[default: those of {VARIABLE} in the environment]",
            "body": "A file with the form of the webhook's body "
            "(docs/commands.md#the-body-of-a-webhook).",
        },
    ),
)
"""What takes each match as it is found."""


def title_of(queries: Iterable[str]) -> str:
    """The title of the feed of what the queries of some files find, or those in no file.

    >>> title_of(["news.xscl", "queries/follow-up.xscl"])
    'news, follow-up'
    """
    return ", ".join("queries" if one[0] == "-" else Path(one).stem for one in queries)
