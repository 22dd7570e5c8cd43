"""Addresses of servers: which may be asked at all, which key goes there, what of them is shown."""

from __future__ import annotations

import os
import urllib.parse

LOOPBACK = ("localhost", "127.0.0.1", "::1")
PLAIN = "MEMENVS_PLAIN_HTTP"  # of the environment: hosts that are asked without encryption
PORTS = {"http": 80, "https": 443}


def check_address(url: str, role: str) -> None:
    """Raise ``ValueError`` that says why texts cannot, or must not, be sent to an address."""
    if not _is_address(url):
        raise ValueError(
            f"{shown_address(url)!a} is no address of a {role}; it begins with http:// or https://"
        )
    parts = urllib.parse.urlsplit(url)
    if parts.username is not None or parts.password is not None:
        raise ValueError(
            f"{shown_address(url)}: an address is shown and stored, so it must not hold a "
            f"password; set the {role}'s key instead"
        )
    allowed = [*LOOPBACK, *os.environ.get(PLAIN, "").replace(",", " ").split()]
    if parts.scheme == "http" and parts.hostname not in allowed:
        raise ValueError(
            f"{shown_address(url)}: anyone on the way could read what is sent there; take "
            f"https://, or set {PLAIN}={parts.hostname}"
        )


def joined(base: str, path: str) -> str:
    """Put a path behind that of an address, before its query."""
    parts = urllib.parse.urlsplit(base)
    return urllib.parse.urlunsplit(parts._replace(path=parts.path.rstrip("/") + path, fragment=""))


def shown_address(url: str) -> str:
    """Give an address for messages, files and keys of caches: no password, no value of a query."""
    try:
        parts = urllib.parse.urlsplit(url)
        names = [name for name, _ in urllib.parse.parse_qsl(parts.query, keep_blank_values=True)]
    except ValueError:
        return url[:60]
    host = parts.netloc.rpartition("@")[2]
    query = "&".join(f"{name}=" for name in names)
    return urllib.parse.urlunsplit((parts.scheme, host, parts.path, query, ""))


def configured_address(role: str) -> str | None:
    """Give the address that the user set for a role: ``MEMENVS_ROLE_URL``."""
    return os.environ.get(f"MEMENVS_{role.upper()}_URL") or None


def key_for(role: str, url: str) -> str:
    """Give ``MEMENVS_ROLE_KEY`` where it belongs: at the origin of ``MEMENVS_ROLE_URL`` alone."""
    own = configured_address(role)
    if own is None or origin(own) != origin(url):
        return ""
    return os.environ.get(f"MEMENVS_{role.upper()}_KEY", "")


def origin(url: str) -> tuple[str, str | None, int | None] | None:
    """Give scheme, host and port; None where that cannot be read."""
    try:
        parts = urllib.parse.urlsplit(url)
        return parts.scheme, parts.hostname, parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return None


def _is_address(url: str) -> bool:
    """Whether requests can be sent there: no more is asked than that it can be read."""
    try:
        parts = urllib.parse.urlsplit(url)
        readable = parts.port != 0 and bool(parts.hostname)
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and " " not in url
    return readable and plain and url.startswith(("http://", "https://"))
