"""From a raw `key = text` in a file to a Setting: secrets wrapped, templates made Unknown.

Every format goes through `setting()`, so no loader can forget either.
"""

from __future__ import annotations

import re

from .catalog import is_password
from .model import Location, Origin, Secret, Setting, Unknown, Value

_SECRET_KEY = re.compile(
    r"password|passwd|secret|token|jaas|credential|api[._-]?key|private[._-]?key|user\.info$",
    re.IGNORECASE,
)
# Keys that match the pattern above by their name but hold no secret.
_NOT_SECRET = re.compile(
    r"token[._](?:endpoint|expiry|max|lifetime|validity)|endpoint[._]url|\.class$|"
    r"callback\.handler|secret[._]?(?:name|provider)|credentials?\.(?:provider|source)",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"://[^/\s:@]*:[^/\s@]+@|(?:^|[\s,;=])[^\s:/@,]+:[^\s/@,]+@[\w.-]|password\s*[=:]\s*\S", re.IGNORECASE
)
_TEMPLATE = re.compile(
    r"^<[A-Z][A-Z0-9_ .-]*>$|\$\([A-Za-z_]\w*\)|^\$[A-Za-z_]\w*$",
)
# Looked for by hand: a pattern would look for an end behind every beginning.
_ENCLOSED = (("${", "}"), ("{{", "}}"), ("{%", "%}"), ("<%", "%>"))
# The same for who reads rows elsewhere than in Python: key patterns in any case, then the value's.
SECRET_PATTERNS = (_SECRET_KEY.pattern, _NOT_SECRET.pattern, _SECRET_VALUE.pattern)

_secret_keys: dict[str, bool] = {}


def is_secret_key(key: str) -> bool:
    known = _secret_keys.get(key)
    if known is None:
        known = is_password(key) or bool(_SECRET_KEY.search(key) and not _NOT_SECRET.search(key))
        _secret_keys[key] = known
    return known


def value_of(key: str, text: str) -> Value:
    """The value as it may travel: a Secret, an Unknown, or the text itself."""
    if is_secret_key(key):
        return Secret(text) if text else text
    if ("@" in text or "=" in text or ":" in text) and _SECRET_VALUE.search(text):
        return Secret(text)
    if ("$" in text or "{" in text or "<" in text) and is_template(text):
        return Unknown(text)
    return text


def is_template(text: str) -> bool:
    for begin, end in _ENCLOSED:
        start = text.find(begin)
        if start >= 0 and text.find(end, start + len(begin)) >= 0:
            return True
    return _TEMPLATE.search(text) is not None


def setting(key: str, text: str, file: str, line: int | None, note: str = "") -> Setting:
    return Setting(key, value_of(key, text), Origin("file", Location(file, line), note))
