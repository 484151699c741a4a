"""A finding's name across runs: no line and no value in it, so edits elsewhere keep it."""

from __future__ import annotations

from .model import Finding


def fingerprint(finding: Finding) -> str:
    # The extension behind hashlib's sha256: hashlib itself loads OpenSSL, which costs more than an audit.
    try:
        from _sha256 import sha256
    except ImportError:
        try:
            from _sha2 import sha256
        except ImportError:
            from hashlib import sha256
    parts = (finding.code, finding.at.file, finding.resource, *sorted(finding.keys))
    return str(sha256("\0".join(parts).encode()).hexdigest())[:16]
