"""Names of hosts: which could never be reached, whatever a resolver knows."""

from __future__ import annotations


def resolvable(host: str) -> bool:
    """False only where no resolver could ever answer: a colon outside an IPv6 address."""
    return ":" not in host or is_ipv6(host)


def is_ipv6(host: str) -> bool:
    import ipaddress

    try:
        ipaddress.IPv6Address(host)
    except ValueError:
        return False
    return True
