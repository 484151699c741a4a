"""A table of planted secrets: key x value x format, none of which any output may show, and of harmless
settings that every output must still show.

Each planted value holds a word of its own, made of small letters alone, so that nothing but its key, its
shape or its place gives it away. The files are written once and each command runs once over all of them; a
case looks for its word in everything that was printed or written.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from advisor.edit.diff import unified
from advisor.model import Secret, Unknown
from advisor.read.values import value_of

# Keys that are secret by their words, whatever comes around them.
_KEYS = """
    ssl.keystore.password sasl.jaas.config db.pass mail.pwd ssh.passphrase ssl.keystore.pasword
    db.passwrod database.passowrd admin.psswd my.client.secret callback.handler.client.secret
    credentials.provider.password schema.registry.basic.auth.user.info azure.account.key
    aws.access.key message.encryption.key jwt.signing.key oauth.client.key my.api.key my.apikey
    rsa.private.key hub.shared.key servicebus.connection.string confluent.license http.authorization
    vault.token hub.sas keystorePass clientSecret DB_PASSWORD my-access-token sasl.jas.config
    ssl.key.passwrd token
"""
KEYS = _KEYS.split()
# Keys that say nothing: their values are not shown because nobody knows what they hold.
UNKNOWN = [
    "my.own.thing",
    "acme.gateway",
    "registry.mode",
    "database.hostname",
    "interceptor.options",
    "x.y.z",
]
# Values that are secret by their shape, under a key whose values are shown: `{}` is the word.
SHAPES = {
    "login in a URL": "https://alice:{}@host/",
    "login without a name": "redis://:{}@cache:6379",
    "login with signs": "amqp://a:{}/=,x@host",
    "login without a scheme": "alice:{}@host",
    "oracle login": "jdbc:oracle:thin:scott/{}@db",
    "jdbc password": "jdbc:postgresql://db/x?user=u&password={}",
    "token in a query": "https://h/x?token={}",
    "api key in a query": "https://h/x?a=1&api_key={}",
    "key in a query": "https://h/x?key={}",
    "signature in a query": "https://h/x?sv=1&sig={}",
    "shared access key": "Endpoint=sb://x/;SharedAccessKeyName=r;SharedAccessKey={}",
    "account key": "AccountName=a;AccountKey={}",
    "pwd of a connection": "Server=h;uid=u;pwd={}",
    "system property": "-Dssl.password={}",
    "option": "--token={}",
    "jaas option": 'org.x.Module required username="u" password="{}";',
    "secret of oauth": "scope=a secret={}",
    "json": '{{"clientSecret": "{}"}}',
    "bearer": "Bearer {}",
    "pem": "-----BEGIN PRIVATE KEY-----{}",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.{}.sig",
    "default of a secret": "${{DB_PASSWORD:{}}}",
    "shell default of a secret": "${{DB_PASSWORD:-{}}}",
    "nested default": "${{X:-${{DB_TOKEN:-{}}}}}",
    "jinja default": "{{{{ db_password | default('{}') }}}}",
    "comment behind": "x # pass {}",
}
# Known keys that take any text.
CARRIERS = {
    "broker": ["broker.rack", "ssl.keystore.location", "ssl.truststore.location", "principal.builder.class"],
    "client": ["client.id", "ssl.keystore.location", "ssl.truststore.location", "interceptor.classes"],
}
TOGETHER = 4


class Case(NamedTuple):
    format: str
    kind: str
    name: str
    key: str
    value: str
    word: str


def _word(number: int) -> str:
    letters = "abcdefghijklmnoprstuvwy"
    base = len(letters)
    return "zqx" + letters[number // base**2] + letters[number // base % base] + letters[number % base] + "k"


def _cases() -> list[Case]:
    found: list[Case] = []
    for name in FORMATS:
        carriers = CARRIERS["broker" if name in BROKERS else "client"]
        rows = [("key", key, key, "{}") for key in KEYS]
        rows += [("unknown", key, key, "{}") for key in UNKNOWN]
        rows += [
            ("shape", shape, carriers[place % len(carriers)], text)
            for place, (shape, text) in enumerate(SHAPES.items())
        ]
        for kind, label, key, text in rows:
            word = _word(len(found))
            found.append(Case(name, kind, label, key, text.format(word), word))
    return found


# How each format writes a setting, and the file around it. `{}` is where settings go.


def _dashed(key: str) -> str:
    return "".join("-" + letter.lower() if letter.isupper() else letter for letter in key)


def _variable(key: str) -> str:
    return "KAFKA_" + "".join(
        "_" + x if x.isupper() and not key.isupper() else x for x in key
    ).upper().replace(".", "_").replace("-", "_")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _compose(settings: str) -> str:
    head = "services:\n  kafka:\n    image: apache/kafka:4.1.0\n    environment:\n"
    return head + settings


PROPERTIES = "bootstrap.servers=kafka:9092\nacks=1\nlinger.ms=5\nretries=0\n{}"
FORMATS = {
    "properties": ("producer.properties", PROPERTIES, lambda c: f"{c.key}={c.value}\n"),
    "broker-properties": (
        "server.properties",
        "process.roles=broker\nnode.id=1\nlog.dirs=/x\nlisteners=PLAINTEXT://:9092\n{}",
        lambda c: f"{c.key} = {c.value}\n",
    ),
    "spring-yaml": (
        "application.yml",
        "spring:\n  kafka:\n    bootstrap-servers: k:9092\n    producer:\n      acks: 1\n"
        "      properties:\n{}",
        lambda c: f"        '[{c.key}]': {_quoted(c.value)}\n",
    ),
    "compose": (
        "docker-compose.yml",
        _compose("      KAFKA_NODE_ID: 1\n      KAFKA_PROCESS_ROLES: broker\n{}"),
        lambda c: f"      {_variable(c.key)}: {_quoted(c.value)}\n",
    ),
    "envfile": (
        ".env",
        "KAFKA_NODE_ID=1\nKAFKA_PROCESS_ROLES=broker\nKAFKA_LISTENERS=PLAINTEXT://:9092\n{}",
        lambda c: f"{_variable(c.key)}={c.value}\n",
    ),
    "strimzi": (
        "kafka.yaml",
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nmetadata:\n  name: shop\nspec:\n  kafka:\n"
        "    version: 4.1.0\n    replicas: 3\n    config:\n      min.insync.replicas: 2\n{}",
        lambda c: f"      {c.key}: {_quoted(c.value)}\n",
    ),
}
BROKERS = {"broker-properties", "compose", "envfile", "strimzi"}
CASES = _cases()

# Known keys and usual values: masking these would be a failure too.
HARMLESS = {
    "producer": """
        bootstrap.servers=kafka-1:9092,kafka-2:9092 acks=all linger.ms=5 retries=3 batch.size=32768
        compression.type=lz4 enable.idempotence=true max.in.flight.requests.per.connection=5
        delivery.timeout.ms=120000 request.timeout.ms=30000 retry.backoff.ms=100 buffer.memory=33554432
        max.block.ms=60000 max.request.size=1048576 transactional.id=orders-1 client.id=orders
        key.serializer=org.apache.kafka.common.serialization.StringSerializer
        value.serializer=org.apache.kafka.common.serialization.ByteArraySerializer
        security.protocol=SASL_SSL sasl.mechanism=OAUTHBEARER ssl.truststore.location=/etc/trust.jks
        ssl.keystore.location=/etc/keys.jks ssl.keystore.type=PKCS12 ssl.truststore.type=JKS
        ssl.endpoint.identification.algorithm=https ssl.protocol=TLSv1.3 ssl.enabled.protocols=TLSv1.3
        sasl.oauthbearer.token.endpoint.url=https://idp:8443/token sasl.kerberos.service.name=kafka
        sasl.login.callback.handler.class=org.x.Handler sasl.login.refresh.window.factor=0.8
        interceptor.classes=org.x.Interceptor metadata.max.age.ms=300000 connections.max.idle.ms=540000
        partitioner.class=org.x.Partitioner schema.registry.url=http://registry:8081
    """,
    "consumer": """
        bootstrap.servers=kafka-1:9092 group.id=billing group.instance.id=billing-1 auto.offset.reset=earliest
        enable.auto.commit=false max.poll.records=500 max.poll.interval.ms=300000 session.timeout.ms=45000
        heartbeat.interval.ms=3000 isolation.level=read_committed fetch.min.bytes=1 client.rack=eu-1a
        key.deserializer=org.apache.kafka.common.serialization.StringDeserializer
        partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor
    """,
    "server": """
        process.roles=broker,controller node.id=1 log.dirs=/var/lib/kafka
        controller.quorum.voters=1@c-1:9093,2@c-2:9093,3@c-3:9093 controller.listener.names=CONTROLLER
        listeners=SASL_SSL://:9092,CONTROLLER://:9093 advertised.listeners=SASL_SSL://kafka-1.example.org:9092
        listener.security.protocol.map=SASL_SSL:SASL_SSL,CONTROLLER:SSL,TOKEN:SASL_SSL
        min.insync.replicas=2 default.replication.factor=3 num.partitions=6 broker.rack=eu-1a
        unclean.leader.election.enable=false offsets.topic.replication.factor=3 log.retention.hours=168
        delegation.token.expiry.time.ms=86400000 delegation.token.max.lifetime.ms=604800000
        password.encoder.iterations=4096 ssl.client.auth=required num.io.threads=8
        authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
        super.users=User:admin;User:kafka/host@EXAMPLE.ORG principal.builder.class=org.x.Builder
        sasl.kerberos.principal.to.local.rules=RULE:[1:$1@$0](.*@EXAMPLE.ORG)s/@.*//,DEFAULT
        listener.name.sasl_ssl.ssl.client.auth=requested auto.create.topics.enable=false
    """,
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("planted") / "root"
    texts: dict[str, str] = {}
    for name, (file, text, line) in FORMATS.items():
        mine = [case for case in CASES if case.format == name]
        # One file can hold a key once.
        parts = [("all", [case for case in mine if case.kind != "shape"])]
        shapes = [case for case in mine if case.kind == "shape"]
        parts += [
            (f"s{place}", shapes[place : place + TOGETHER]) for place in range(0, len(shapes), TOGETHER)
        ]
        filler = HARMLESS["server" if name in BROKERS else "producer"]
        for part, cases in parts:
            # A file of unknown keys alone would be nobody's.
            known = _known(cases[0], text, filler) if part == "all" else ()
            texts[f"{name}/{part}/{file}"] = text.replace("{}", "".join(map(line, (*cases, *known))))
    for name, settings in HARMLESS.items():
        texts[f"harmless/{name}.properties"] = "\n".join(settings.split()) + "\n"
    texts["kafka-advisor.toml"] = 'profile = "prod"\n'
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def _known(like: Case, text: str, settings: str) -> list[Case]:
    pairs = [pair.partition("=")[::2] for pair in settings.split() if pair[0] not in "lp"]
    present = {line.partition("=")[0].strip() for line in text.splitlines()}
    return [like._replace(key=key, value=value) for key, value in pairs if key not in present]


OUTPUTS = {
    "audit": ["audit", "."],
    "effective": ["audit", "--show-effective", "."],
    "alone": ["audit", "--no-link", "--show-effective", "."],
    "json": ["audit", "--show-effective", "--format", "json", "."],
    "reports": ["audit", "--report", "json=../r.json", "--report", "text=../r.txt", "."],
    "compare": ["compare", "properties/all", "properties/s0"],
    "simulate": ["simulate", "properties/all"],
    "fix": ["fix", "properties/all", "spring-yaml/all", "compose/all", "strimzi/all", "envfile/all"],
}


@pytest.fixture(scope="module")
def outputs(planted) -> dict[str, str]:
    """All that the commands print and write, by command."""
    cache = planted.parent / "cache"
    found: dict[str, str] = {}
    for name, words in OUTPUTS.items():
        done = subprocess.run(
            [sys.executable, "-m", "advisor", *words],
            cwd=planted,
            env={**os.environ, "KAFKA_ADVISOR_CACHE": str(cache)},
            capture_output=True,
            timeout=600,
            check=False,
        )
        found[name] = (done.stdout + done.stderr).decode()
        assert "Traceback" not in found[name]
        assert done.returncode in (0, 1), found[name][-2000:]
    for path in sorted(planted.parent.rglob("*")):
        if path.is_file() and planted not in path.parents:
            found[str(path.relative_to(planted.parent))] = path.read_bytes().decode("utf-8", "replace")
    return found


def _id(case: Case) -> str:
    return f"{case.format}-{case.kind}-{case.name}"


@pytest.mark.parametrize("case", CASES, ids=_id)
def test_a_planted_secret_is_nowhere(outputs, case):
    shown = {name: _around(text, case.word) for name, text in outputs.items() if case.word in text}
    assert shown == {}


def _around(text: str, word: str) -> str:
    place = text.index(word)
    return text[max(0, place - 80) : place + 40]


@pytest.mark.parametrize("case", CASES, ids=_id)
def test_a_planted_secret_beside_a_change_is_not_in_the_diff(case):
    file, text, line = FORMATS[case.format]
    planted = line(case)
    beside = "".join((planted, _changing(case, "1"), planted))
    before = text.replace("{}", beside)
    after = text.replace("{}", beside.replace(_changing(case, "1"), _changing(case, "2")))
    diff = unified(file, before.encode(), after.encode())
    assert case.word not in diff.text.decode()
    assert _changing(case, "2").strip() in diff.text.decode()


def _changing(case: Case, value: str) -> str:
    key = "num.partitions" if case.format in BROKERS else "linger.ms"
    return FORMATS[case.format][2](case._replace(key=key, value=value))


@pytest.mark.parametrize("case", [case for case in CASES if case.format == "properties"], ids=_id)
def test_a_planted_secret_is_in_no_row_of_a_fleet(case):
    from advisor.fleet.canonical import Canonical, masked

    kept = masked(case.key, case.value, ())
    assert case.word not in kept
    row = Canonical({"component": "producer"}, ((case.key, kept),))
    assert case.word not in str(row.shown())
    assert case.word not in repr(row.document("f", "n"))


@pytest.mark.parametrize(
    "comment", ["# was {} before: password", "# pwd={}", "# token: {}", "# ask a:{}@host"]
)
@pytest.mark.parametrize("name", ["x.properties", "x.yml"])
def test_a_comment_beside_a_change_is_not_in_the_diff(name, comment):
    sign = "=" if name.endswith("properties") else ": "
    lines = ["retries{0}1", comment, "acks{0}1", comment, "batch.size{0}1"]
    before = "\n".join(line.format("zqxword" if line[0] == "#" else sign) for line in lines)
    diff = unified(name, before.encode(), before.replace(f"acks{sign}1", f"acks{sign}all").encode())
    assert b"zqxword" not in diff.text
    assert diff.masked


def test_every_file_was_read_and_every_key_is_named(outputs):
    report = json.loads(outputs["json"])
    assert {file["status"] for file in report["files"]} == {"audited"}
    assert len(report["files"]) == len(FORMATS) * (1 + -(-len(SHAPES) // TOGETHER)) + len(HARMLESS)
    named = {one["key"] for document in report["effective"] for one in document["settings"]}
    assert {*KEYS, *UNKNOWN} <= named


def test_fix_writes_the_true_text(planted, tmp_path):
    """What is masked in a diff stays what it is in the file."""
    folder = tmp_path / "root"
    folder.mkdir()
    text = (planted / "properties/all/producer.properties").read_text()
    (folder / "producer.properties").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "advisor", "fix", "--write", "producer.properties"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "written" in done.stderr, done.stderr
    after = (folder / "producer.properties").read_text()
    assert after != text
    for case in CASES:
        if case.format == "properties" and case.kind != "shape":
            assert case.word in after
    assert "<secret>" not in after
    assert "<hidden>" not in after


@pytest.fixture(scope="module")
def shown(outputs) -> dict[str, set[tuple[str, str]]]:
    """The settings that the JSON report shows of each harmless file."""
    documents = [(json.dumps(one), one) for one in json.loads(outputs["json"])["effective"]]
    return {
        name: {
            (one["key"], one["value"])
            for text, document in documents
            if f"harmless/{name}" in text
            for one in document["settings"]
        }
        for name in HARMLESS
    }


@pytest.mark.parametrize(
    "setting", [f"{name}: {one}" for name, settings in HARMLESS.items() for one in settings.split()]
)
def test_a_harmless_setting_is_shown(shown, setting):
    name, _, pair = setting.partition(": ")
    key, _, value = pair.partition("=")
    assert value_of(key, value) == value
    assert (key, value) in shown[name]


@pytest.mark.parametrize(
    ("written", "value"), [("ackz", "1"), ("linger.msec", "5"), ("bootstrap.server", "kafka:9092")]
)
def test_a_near_miss_of_a_harmless_key_is_shown(written, value):
    assert value_of(written, value) == value


@pytest.mark.parametrize("value", ["${RACK}", "${RACK:-eu}", "{{ .Values.rack }}", "$(RACK)", "<RACK>"])
def test_a_template_says_what_fills_it_in(value):
    assert value_of("broker.rack", value) == Unknown(value)


def test_the_name_of_a_secret_stays_where_its_default_goes():
    assert value_of("broker.rack", "a-${DB_PASSWORD:x}") == Unknown("a-${DB_PASSWORD:<secret>}")
    assert value_of("ssl.key.password", "${DB_PASSWORD:x}") == Unknown("${DB_PASSWORD:<secret>}")


def test_a_password_that_looks_like_a_variable_is_not_shown():
    assert value_of("ssl.key.password", "$ecret") == Unknown("a template")
    assert value_of("ssl.key.password", "<ecret>") == Unknown("a template")
    assert isinstance(value_of("ssl.key.password", "pas$word"), Secret)
