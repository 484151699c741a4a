"""What is a secret: keys by their words, values by their shape, and values of keys that nobody knows.

Every output goes through the answers given here: a format's values (`reading`), a fleet's rows, the lines of
a diff (`masks`), and messages that quote what somebody wrote (`without_secrets`). For a key of Kafka's own
the catalog decides, for any other its words do; the value of a key that is neither known nor a near miss of a
known one is not shown at all, because nothing says what it holds.

Every pattern takes time in proportion to the text: quantifiers are bounded or possessive, and begin only
where a word begins. They are compiled on first use: most files need few of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ..catalog import is_password
from ..catalog.names import dotted, edit_distance, known_names, near_names
from ..syntax.numbers import integer, is_digits

MASK = "<secret>"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SECRET, KNOWN, UNKNOWN = "secret", "known", "unknown"

# One of these words makes a key secret, whatever stands around it.
_WORDS = _words(
    "pass passwd password passwords passwort passphrase passcode pwd pw secret secrets token tokens jaas "
    "credential credentials creds license licence authorization sas apikey accesskey secretkey privatekey "
    "accountkey signature bearer psk otp pswd"
)
# Words run together: dbpassword, clientsecret, KEYSTOREPASS.
_PARTS = ("password", "passwd", "passphrase", "secret", "credential", "apikey", "accesskey", "privatekey")
# Misspelt: within so many letters.
_NEAR = (("password", 2), ("passphrase", 2), ("passwd", 1), ("secret", 1), ("credential", 2), ("token", 1))
_NOT_MISSPELT = _words("taken toke woken regret")
_LETTERS = tuple((right, cutoff, frozenset(right)) for right, cutoff in _NEAR)
_ENDINGS = ("pass", "pwd", "token")
_NO_PASS = _words("bypass compass surpass trespass encompass")
# A key of one of these is secret; `ssl.key.location` and `key.serializer` are not.
_KEY_OF = _words(
    "account access encryption encrypt signing sign client api private shared master secret storage "
    "subscription session write read admin"
)
_PAIRS = frozenset(
    {("connection", "string"), ("user", "info"), ("access", "grant"), ("auth", "header"), ("auth", "key")}
)
# A name that ends so is only about a secret: where it is, how long it lasts, which class makes it.
_ABOUT = _words(
    "location file path url uri endpoint class provider name type algorithm ms seconds minutes hours length "
    "iterations count size enabled enable policy source alias ttl expiry interval cb"
)
# Keys of Kafka and its usual company that are in no release's table and hold no secret.
_ALSO_KNOWN = _words(
    """
    name connector.class tasks.max tasks.max.enforce transforms predicates topics topics.regex topic
    kafka.topic config.action.reload errors.retry.timeout errors.retry.delay.max.ms errors.tolerance
    errors.log.enable errors.log.include.messages errors.deadletterqueue.topic.name
    errors.deadletterqueue.topic.replication.factor errors.deadletterqueue.context.headers.enable
    topic.creation.groups topic.creation.default.replication.factor topic.creation.default.partitions
    exactly.once.support transaction.boundary transaction.boundary.interval.ms offsets.storage.topic
    partitions num-partitions num.partitions replication-factor replication.factor topic.name
    clusters enabled groups groups.exclude topics.exclude topics.blacklist groups.blacklist
    replication.policy.class replication.policy.separator source.cluster.alias target.cluster.alias
    sync.topic.acls.enabled sync.topic.configs.enabled sync.group.offsets.enabled
    sync.group.offsets.interval.seconds emit.heartbeats.enabled emit.heartbeats.interval.seconds
    emit.checkpoints.enabled emit.checkpoints.interval.seconds refresh.topics.enabled
    refresh.topics.interval.seconds refresh.groups.enabled refresh.groups.interval.seconds
    heartbeats.topic.replication.factor checkpoints.topic.replication.factor
    offset-syncs.topic.replication.factor offset-syncs.topic.location dedicated.mode.enable.internal.rest
    key.converter.schemas.enable value.converter.schemas.enable
    producer.byte.rate consumer.byte.rate request.percentage controller.mutation.rate
    concurrency ack.mode type default.topic destination
    super.users allow.everyone.if.no.acl.found schema.registry.url auto.register.schemas use.latest.version
    specific.avro.reader
    """
)
# What stands before a key that Kafka reads behind it.
_PREFIXES = _words(
    "kafka cfg connect producer consumer admin client override main restore global topic topics spring cloud "
    "stream streams binder bindings configuration properties config default source target cluster"
)


@cache
def _word_pattern() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z]+|\d+")


@cache
def _hump_pattern() -> re.Pattern[str]:
    return re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


_kinds: dict[str, str] = {}
_KINDS_MAX = 100_000
# What is longer is no key of Kafka's, whatever stands before it.
_KEY_MAX = 300


def kind_of_key(key: str) -> str:
    """SECRET, KNOWN (its value may be shown) or UNKNOWN (nothing says what it holds)."""
    found = _kinds.get(key)
    if found is None:
        found = _kind_of(key)
        if len(_kinds) < _KINDS_MAX:
            _kinds[key] = found
    return found


def is_secret_key(key: str) -> bool:
    return kind_of_key(key) == SECRET


# The last word of a key that Kafka reads as a number.
_COUNTED = _words("ms seconds minutes hours length iterations count size")
_ABOUT_SECRETS = ("pass", "secret", "token", "credential", "key")
_counted: dict[str, bool] = {}


def misfits(key: str, text: str) -> bool:
    """A key that is about a secret, `password.encoder.iterations`, with something else than its number."""
    found = _counted.get(key)
    if found is None:
        found = any(part in key for part in _ABOUT_SECRETS)
        if found:
            words = words_of(key)
            found = bool(words) and words[-1] in _COUNTED and secret_word(words) is not None
        if len(_counted) < _KINDS_MAX:
            _counted[key] = found
    return found and integer(text.strip()) is None


def _kind_of(key: str) -> str:
    if is_password(key):
        return SECRET
    if len(key) > _KEY_MAX:
        return SECRET if has_secret_words(key) else UNKNOWN
    known = known_names()
    if key in known or key in _ALSO_KNOWN:
        return KNOWN
    plain = dotted(key)
    if is_password(plain):
        return SECRET
    if _is_prefixed(plain, known) or ("->" in key and _is_prefixed(key, known)):
        return KNOWN
    if has_secret_words(key):
        return SECRET
    near = near_names(plain)
    if not near or len(key) < 4:
        return UNKNOWN
    return SECRET if any(is_password(name) for name in near) else KNOWN


def _is_prefixed(key: str, known: set[str]) -> bool:
    """`producer.acks`, `listener.name.x.ssl.client.auth`, `a->b.topics`, `primary.bootstrap.servers`."""
    if key in known or key in _ALSO_KNOWN:
        return True
    prefix, dot, rest = key.partition(".")
    if rest in known and "." in rest and not has_secret_words(prefix):
        return True  # one word of a person's own is the name of a cluster
    while dot and (prefix in _PREFIXES or "->" in prefix):
        if rest in known or rest in _ALSO_KNOWN:
            return True
        prefix, dot, rest = rest.partition(".")
    if prefix == "listener" and rest.startswith("name."):
        return any(tail in known for tail in _tails(rest.partition(".")[2].partition(".")[2]))
    return False


def _tails(key: str) -> Iterator[str]:
    while key:
        yield key
        key = key.partition(".")[2]


def words_of(key: str) -> list[str]:
    """The words of a name, however they are joined: sasl.jaasConfig, SASL_JAAS_CONFIG, sasl-jaas-config."""
    found: list[str] = []
    for part in _word_pattern().findall(key[:300]):
        found += (
            [part.lower()]
            if part.isupper() or part.islower()
            else _hump_pattern().sub(" ", part).lower().split()
        )
    return found


def has_secret_words(key: str) -> bool:
    """A name of a secret by its words. Where the last words say that it is only about one, such as
    `token.endpoint.url` or `secretName`, it is none."""
    words = words_of(key)
    at = secret_word(words)
    return at is not None and not (words[-1] in _ABOUT and at < len(words) - 1)


def secret_word(words: list[str]) -> int | None:
    """The place of the last word that makes the name a secret's."""
    for place in range(len(words) - 1, -1, -1):
        word = words[place]
        before = words[place - 1] if place else ""
        if word in _WORDS or any(part in word for part in _PARTS) or (before, word) in _PAIRS:
            return place
        if word in ("key", "keys") and before in _KEY_OF:
            return place
        if len(word) >= 5 and (_is_misspelt(word) or (word.endswith(_ENDINGS) and word not in _NO_PASS)):
            return place
    return None


_misspelt: dict[str, bool] = {}


def _is_misspelt(word: str) -> bool:
    found = _misspelt.get(word)
    if found is None:
        found = word not in _NOT_MISSPELT and any(
            abs(len(word) - len(right)) <= cutoff
            and len(letters.intersection(word)) >= len(letters) - cutoff
            and edit_distance(word, right, cutoff) <= cutoff
            for right, cutoff, letters in _LETTERS
        )
        if len(_misspelt) < _KINDS_MAX:
            _misspelt[word] = found
    return found


# Values by their shape.


@cache
def _given_pattern() -> re.Pattern[str]:
    # A name and what is given to it, inside a value: `?token=x`, `SharedAccessKey=x`, `"password": "x"`.
    return re.compile(
        r"(?<![A-Za-z0-9_])([A-Za-z_][\w.-]{0,63}+)[\"']?[ \t]{0,8}+(=|:|%3[dD])[ \t]{0,8}+(?=\S)"
    )


@cache
def _query_pattern() -> re.Pattern[str]:
    return re.compile(r"[?&](?:key|code|auth)=[^&\s]", re.IGNORECASE)


@cache
def _jwt_pattern() -> re.Pattern[str]:
    return re.compile(r"(?<![\w-])eyJ[\w-]{8,}+\.[\w.-]{4,}+")


@cache
def _issued_pattern() -> re.Pattern[str]:
    # What the services that issue keys begin them with.
    return re.compile(
        r"(?<![A-Za-z0-9])(?:(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}(?![A-Z0-9])|"
        r"(?:Bearer|Basic) {1,4}[\w+/=.-]{6,}+|"
        r"(?:gh[pousr]_|xox[abprs]-|sk_live_|glpat-|AIza|hvs\.|dckr_pat_|npm_|SG\.)[\w-]{16,}+)"
    )


@cache
def _long_pattern() -> re.Pattern[str]:
    return re.compile(r"(?<![\w+/=-])[\w+/=-]{20,}+")


@cache
def _reference_pattern() -> re.Pattern[str]:
    return re.compile(r"[\"']?\$(?:\{[\w.]{1,80}+\}|[A-Za-z_]\w{0,80}+)[\"']?(?=[\s,;&}\]]|$)")


_STARTS = (
    *("AKIA", "ASIA", "AROA", "AIDA", "Bearer", "Basic", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "xox"),
    *("sk_live_", "glpat-", "AIza", "hvs.", "dckr_pat_", "npm_", "SG."),
)
# No login is longer.
_LOGIN_SPAN = 256
# Principals and the rules that make them, which have a : and an @ too.
_NO_LOGINS = frozenset(("User", "Group", "RULE", "DEFAULT", "mailto"))
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


def holds_secret(text: str) -> bool:
    """A value that holds a secret by its shape, whatever its key."""
    if "@" in text and _has_login(text):
        return True
    if ("=" in text or ":" in text or "%3" in text) and _gives_secret(text):
        return True
    if " #" in text and _speaks_of_secret(text.partition(" #")[2]):
        return True  # a comment for the reader, a part of the value for Kafka
    if len(text) < 12:
        return False
    return (
        "-----BEGIN" in text
        or ("eyJ" in text and _jwt_pattern().search(text) is not None)
        or (any(start in text for start in _STARTS) and _issued_pattern().search(text) is not None)
    )


def _gives_secret(text: str) -> bool:
    for found in _given_pattern().finditer(text):
        if found[2] == ":" and _is_address(text, found):
            continue
        if (found[1].lower() == "sig" or has_secret_words(found[1])) and not _is_reference(text, found.end()):
            return True
    return ("?" in text or "&" in text) and _query_pattern().search(text) is not None


def _is_address(text: str, found: re.Match[str]) -> bool:
    """`token-service:8081`, `secret://x` and `CLIENT_TOKEN:SASL_SSL` give nothing away."""
    if found.end() > found.end(2):
        return False
    rest = text[found.end() : found.end() + 16]
    port = rest[:6].rstrip("/,; ")
    protocol = rest.partition(",")[0].strip().upper()
    return rest.startswith("//") or (is_digits(port) and len(port) <= 5) or protocol in _PROTOCOLS


def _is_reference(text: str, at: int) -> bool:
    """`password=${PW}` says where the secret is, not what it is."""
    return text.startswith(("$", '"$', "'$"), at) and _reference_pattern().match(text, at) is not None


def _has_login(text: str) -> bool:
    """`user:pw@host`, `://:pw@host`, `jdbc:oracle:thin:user/pw@host`."""
    at = text.find("@")
    while at >= 0:
        if _is_login(text[max(0, at - _LOGIN_SPAN) : at], text[at + 1 : at + 2]):
            return True
        at = text.find("@", at + 1)
    return False


def _is_login(before: str, behind: str) -> bool:
    if not behind.strip():
        return False
    _, scheme, login = before.rpartition("://")
    if scheme and not any(map(str.isspace, login)):
        _, colon, password = login.partition(":")
        # host:8080/path@x and host:9092,1@x have a port where a login has its password.
        cut = next((place for place, letter in enumerate(password) if letter in "/,"), len(password))
        if colon and password:
            return not (cut < len(password) and is_digits(password[:cut])) and not password.startswith("$")
    word = before
    for end in " \t\n,;=\"'@":
        word = word.rpartition(end)[2]
    if "thin:" in word and "/" in word:
        return True
    name, colon, password = word.partition(":")
    if not (colon and name and password) or "/" in word or name in _NO_LOGINS:
        return False
    return behind.isalnum() or behind in "_.-[$"


def looks_random(text: str) -> bool:
    """Whether some word of a text could be a key or a token: long, and of letters that no language puts
    together so."""
    return any(_is_random(found[0]) for found in _long_pattern().finditer(text))


def _is_random(word: str) -> bool:
    from math import log2

    word = word[:256]
    if word.count("/") > 2 or word.strip("-=_/+") == "" or not any(map(str.isdigit, word)):
        return False
    counts = [word.count(letter) for letter in set(word)]
    entropy = -sum(count / len(word) * log2(count / len(word)) for count in counts)
    both = word != word.lower() and word != word.upper()
    return entropy >= (3.6 if both else 3.0) and (both or len(word) >= 28)


# Texts that a person wrote.


@cache
def _strong_pattern() -> re.Pattern[str]:
    return re.compile(
        r"pass(?:word|wd|phrase|code|wort)|secret|credential|jaas|token|(?<![a-z])(?:pwd?|pass)(?![a-z])|api.?key",
        re.IGNORECASE,
    )


def _speaks_of_secret(comment: str) -> bool:
    return _strong_pattern().search(comment) is not None or looks_random(comment)


def is_telling(comment: str) -> bool:
    """A comment that may hold a secret: it gives one, speaks of one, or has a word that looks like one."""
    return (
        _speaks_of_secret(comment)
        or holds_secret(comment)
        or any("/" in word and _speaks_of_login(word) for word in comment.split())
    )


def _speaks_of_login(word: str) -> bool:
    name, at, host = word.partition("@")
    return bool(at and host and name.strip("/"))


@cache
def _in_text_pattern() -> re.Pattern[str]:
    return re.compile(
        r"(?<![A-Za-z0-9_])([A-Za-z_][\w.-]{0,63}+)"
        r"([\"']?[ \t]{0,8}+(?:=|:|%3[dD])[ \t]{0,8}+[\"']?)(?!//)([^\s\"',;&]++)"
    )


@cache
def _logins_pattern() -> re.Pattern[str]:
    return re.compile(r"(://[^/\s:@]{0,64}+:)[^\s@]{1,256}+@")


def without_secrets(text: str) -> str:
    """A message that quotes what somebody wrote, with what looks like a secret masked."""
    if not holds_secret(text):
        return text

    def given(found: re.Match[str]) -> str:
        secret = found[1].lower() == "sig" or has_secret_words(found[1])
        return found[1] + found[2] + MASK if secret else found[0]

    masked = _logins_pattern().sub(rf"\g<1>{MASK}@", _in_text_pattern().sub(given, text))
    masked = _issued_pattern().sub(MASK, _jwt_pattern().sub(MASK, masked))
    return MASK if masked == text or _has_login(masked.replace(f":{MASK}@", "@")) else masked
