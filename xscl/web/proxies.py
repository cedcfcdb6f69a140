"""The way out as the environment sets it: proxies, and passwords kept in a netrc file.

`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` as everywhere; `NETRC` names the file that
curl and others read, else it is `~/.netrc`.
"""

from __future__ import annotations

import netrc
import os
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from xscl.web.targets import Credentials, Target, split_credentials, target

if TYPE_CHECKING:
    import httpcore

__all__ = ["ProxySettings"]


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """The proxies by scheme (and `no`, the servers that need none), and user names with their
    passwords by server."""

    proxies: Mapping[str, str] = field(default_factory=dict)
    passwords: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def of_environment(cls) -> ProxySettings:
        """The settings of this process; raises ValueError for a netrc file that cannot be read."""
        return cls(urllib.request.getproxies_environment(), _passwords())

    def credentials(self, to: Target) -> Credentials | None:
        """The credentials that are kept for a server."""
        kept = self.passwords.get(to.host)
        return None if kept is None else Credentials(*kept, to)

    def proxy(self, to: Target) -> httpcore.Proxy | None:
        """The proxy on the way to a server; raises BadAddress for one that is no http(s)."""
        named = self.proxies.get(to.scheme) or self.proxies.get("all")
        if named is None or _needs_none(to, self.proxies):
            return None
        bare, credentials = split_credentials(named if "://" in named else f"http://{named}")
        by = target(bare)
        auth = None if credentials is None else (credentials.user, credentials.password)
        import httpcore

        return httpcore.Proxy(by.url, auth=auth)


def _needs_none(to: Target, proxies: Mapping[str, str]) -> bool:
    return bool(
        urllib.request.proxy_bypass_environment(  # type: ignore[attr-defined]
            to.authority, dict(proxies)
        )
    )


def _passwords() -> dict[str, tuple[str, str]]:
    path = Path(os.environ.get("NETRC") or Path.home() / ".netrc")
    try:
        read = netrc.netrc(path)
    except FileNotFoundError:
        return {}
    except (OSError, netrc.NetrcParseError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {error}") from error
    return {
        host.lower(): (user, password or "") for host, (user, _, password) in read.hosts.items()
    }
