"""SASL and SSL: what a client or listener checks before it opens a connection."""

from __future__ import annotations

from collections.abc import Iterator

from ..results import Reason
from ..value import classes
from ..value.definition import Config
from . import jaas

_DISALLOWED = "com.sun.security.auth.module.JndiLoginModule"
_DISALLOWED_LATER = "com.sun.security.auth.module.LdapLoginModule"
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
_OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
_JAAS = "sasl.jaas.config"
_KERBEROS = "org.apache.kafka.common.security.kerberos.KerberosLogin"

_SSL_CONTEXTS = frozenset(
    [
        "default",
        "ssl",
        "sslv2",
        "sslv3",
        "tls",
        "tlsv1",
        "tlsv1.1",
        "tlsv1.2",
        "tlsv1.3",
        "dtls",
        "dtlsv1.0",
        "dtlsv1.2",
    ]
)
_PROVIDERS = frozenset(
    [
        "sun",
        "sunrsasign",
        "sunec",
        "sunjsse",
        "sunjce",
        "sunjgss",
        "sunsasl",
        "xmldsig",
        "sunpcsc",
        "jdkldap",
        "jdksasl",
        "sunpkcs11",
    ]
)
_RANDOMS = frozenset(["nativeprng", "drbg", "sha1prng", "nativeprngblocking", "nativeprngnonblocking"])
_TRUST_MANAGERS = frozenset(["pkix", "sunpkix", "sunx509", "x509", "x.509"])
_KEY_MANAGERS = frozenset(["sunx509", "newsunx509", "pkix"])
_STORES = frozenset(["jks", "jceks", "pkcs12", "dks", "caseexactjks", "pem"])


def sasl_client(config: Config) -> Iterator[Reason]:
    """The login that a SASL client makes as soon as it is built."""
    mechanism = config.get("sasl.mechanism")
    text = config.get(_JAAS)
    if text is None:
        yield Reason(
            "security",
            (_JAAS, "security.protocol"),
            f"{_JAAS} is not set: SASL has no login unless the JVM is given a JAAS file",
        )
        return
    entry = jaas.parse(text)
    if isinstance(entry, str):
        yield Reason("security", (_JAAS,), f"{_JAAS}: {entry}")
        return
    yield from _login_module(config, entry)
    login = config.get("sasl.login.class") or (_KERBEROS if mechanism == "GSSAPI" else None)
    if login == _KERBEROS:
        yield from _kerberos_service(config, entry)
    yield from _handlers(config, mechanism)


def _login_module(config: Config, entry: jaas.Entry) -> Iterator[Reason]:
    module = entry.module
    disallowed = (config.since(3, 4) and module == _DISALLOWED) or (
        config.since(4, 0) and module == _DISALLOWED_LATER
    )
    if disallowed:
        yield Reason(
            "security", (_JAAS,), f"{_JAAS}: this login module is refused unless a system property allows it"
        )
    elif module in (_PLAIN, _SCRAM):
        return
    elif module == _OAUTH:
        if config.get("sasl.mechanism") != "OAUTHBEARER":
            yield Reason(
                "security", (_JAAS, "sasl.mechanism"), f"{_JAAS}: this login module needs OAUTHBEARER"
            )
    elif module.startswith("com.sun.security.auth.module."):
        yield Reason("security", (_JAAS,), f"{_JAAS}: this login module must be able to log in", "filesystem")
    else:
        near = classes.looks_like_class(module)
        yield Reason(
            "class",
            (_JAAS,),
            f"{_JAAS}: its login module does not come with Kafka or the JVM",
            None if near or "." not in module else "classpath",
            near,
        )


def _kerberos_service(config: Config, entry: jaas.Entry) -> Iterator[Reason]:
    key = "sasl.kerberos.service.name"
    named, configured = entry.options.get("serviceName"), config.get(key)
    if named is None and configured is None:
        yield Reason(
            "security",
            (key, "sasl.mechanism"),
            f"a Kerberos login needs a service name: set {key}, or serviceName in {_JAAS}",
        )
    elif named is not None and configured is not None and named != configured:
        yield Reason("security", (key, _JAAS), f"{key} and the serviceName in {_JAAS} differ")


def _handlers(config: Config, mechanism: str) -> Iterator[Reason]:
    for key, kind in (
        ("sasl.client.callback.handler.class", "AuthenticateCallbackHandler"),
        ("sasl.login.callback.handler.class", "AuthenticateCallbackHandler"),
        ("sasl.login.class", "Login"),
    ):
        name = config.get(key)
        if name is not None and not classes.usable_as(name, kind, config.version):
            yield Reason("class", (key,), f"{key}: {name} is no {kind} that can be created")


def ssl_context(config: Config, prefix: str = "") -> Iterator[Reason]:
    """The SSL context: algorithms the JVM must have, stores that must be readable."""
    for key, known, what in (
        ("ssl.protocol", _SSL_CONTEXTS, "protocol"),
        ("ssl.provider", _PROVIDERS, "security provider"),
        ("ssl.trustmanager.algorithm", _TRUST_MANAGERS, "trust manager algorithm"),
        ("ssl.keymanager.algorithm", _KEY_MANAGERS, "key manager algorithm"),
        ("ssl.secure.random.implementation", _RANDOMS, "random number generator"),
    ):
        value = config.get(key)
        if value and value.lower() not in known:
            yield Reason("security", (key,), f"{key} = {config.shown(key)}: a plain JVM has no such {what}")
        elif value == "":
            yield Reason("security", (key,), f"{key} must not be empty")
    engine = "ssl.engine.factory.class"
    maker = config.get(engine) if config.knows(engine) else None
    if maker is not None and not classes.usable_as(maker, "SslEngineFactory", config.version):
        yield Reason("class", (engine,), f"{engine}: {maker} is no SslEngineFactory")
    yield from _key_store(config)
    yield from _trust_store(config)


def _key_store(config: Config) -> Iterator[Reason]:
    location, kind = config.get("ssl.keystore.location"), config.get("ssl.keystore.type")
    key = config.get("ssl.keystore.key") if config.knows("ssl.keystore.key") else None
    chain = (
        config.get("ssl.keystore.certificate.chain")
        if config.knows("ssl.keystore.certificate.chain")
        else None
    )
    pem = kind == "PEM"
    if key is not None:
        if not pem:
            yield Reason(
                "security",
                ("ssl.keystore.key", "ssl.keystore.type"),
                "ssl.keystore.key is read only with ssl.keystore.type PEM",
            )
        elif location is not None:
            yield Reason(
                "security",
                ("ssl.keystore.location", "ssl.keystore.key"),
                "ssl.keystore.location and ssl.keystore.key exclude each other",
            )
        else:
            yield Reason(
                "security",
                ("ssl.keystore.key",),
                "ssl.keystore.key must hold a key in PEM form",
                "filesystem",
            )
    elif chain is not None:
        yield Reason(
            "security",
            ("ssl.keystore.certificate.chain", "ssl.keystore.key"),
            "ssl.keystore.certificate.chain is given without ssl.keystore.key",
        )
    elif location is not None:
        if not pem and config.get("ssl.keystore.password") is None:
            yield Reason(
                "security",
                ("ssl.keystore.password", "ssl.keystore.location"),
                "ssl.keystore.location is given without ssl.keystore.password",
            )
        else:
            yield Reason(
                "security",
                ("ssl.keystore.location",),
                "ssl.keystore.location must name a readable file",
                "filesystem",
            )
    elif config.get("ssl.keystore.password") is not None:
        yield Reason(
            "security",
            ("ssl.keystore.location", "ssl.keystore.password"),
            "ssl.keystore.password is given without ssl.keystore.location",
        )


def _trust_store(config: Config) -> Iterator[Reason]:
    location, kind = config.get("ssl.truststore.location"), config.get("ssl.truststore.type")
    held = config.get("ssl.truststore.certificates") if config.knows("ssl.truststore.certificates") else None
    if held is not None:
        if kind != "PEM":
            yield Reason(
                "security",
                ("ssl.truststore.certificates", "ssl.truststore.type"),
                "ssl.truststore.certificates is read only with ssl.truststore.type PEM",
            )
        else:
            yield Reason(
                "security",
                ("ssl.truststore.certificates",),
                "ssl.truststore.certificates must hold certificates in PEM form",
                "filesystem",
            )
    elif location is not None:
        yield Reason(
            "security",
            ("ssl.truststore.location",),
            "ssl.truststore.location must name a readable file",
            "filesystem",
        )
    elif config.get("ssl.truststore.password") is not None:
        yield Reason(
            "security",
            ("ssl.truststore.location", "ssl.truststore.password"),
            "ssl.truststore.password is given without ssl.truststore.location",
        )
