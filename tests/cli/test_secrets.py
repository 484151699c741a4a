"""No secret reaches an output, the cache or a message: planted in every format, looked for everywhere.

Every planted secret holds the word below, so one search finds any of them, whole or in part.
"""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from advisor.model import Secret

from .telling import told

WORD = "Zq7x"
JAAS = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="admin" password="Zq7x-jaas" user_bob="Zq7x-bob";'
)
CLIENT = f"""\
bootstrap.servers=kafka:9092
security.protocol=SASL_SSL
sasl.mechanism=PLAIN
sasl.jaas.config={JAAS}
ssl.truststore.password=Zq7x-trust
ssl.keystore.password=Zq7x-first
ssl.keystore.password=Zq7x-second
ssl.key.password=Zq7x-key
ssl.keystore.key=-----BEGIN PRIVATE KEY-----Zq7x-pem
sasl.oauthbearer.client.credentials.client.secret=Zq7x-oauth
ssl.keystore.pasword.password=Zq7x-typo
my.api.key=Zq7x-api
my-secret=Zq7x-dashed
schema.registry.url=https://alice:Zq7x-url@registry:8081
interceptor.options=user=bob password=Zq7x-inside
"""

FILES = {
    "producer.properties": CLIENT
    + "acks=ALL\nkey.serializer=StringSerializer\nssl.endpoint.identification.algorithm=\n"
    + 'sasl.login.class=x password="Zq7x-class"\n',
    "consumer.properties": CLIENT + "group.id=g\nauto.offset.reset=Earliest\nmax.poll.records=many\n",
    "jaas-broken.properties": "bootstrap.servers=kafka:9092\nlinger.ms=five\nacks=1\nsasl.mechanism=PLAIN\n"
    "security.protocol=SASL_SSL\n"
    "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required\n"
    '  username="admin"\n  password="Zq7x-lost-continuation";\n',
    "jaas-wrong.properties": "bootstrap.servers=kafka:9092\nacks=1\nlinger.ms=1\nsecurity.protocol=SASL_SSL\n"
    "sasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config=password=Zq7x-no-module Zq7x\n",
    "server.properties": "process.roles=broker\nnode.id=1\nlog.dirs=/x\n"
    "controller.quorum.voters=1@c:9093\ncontroller.listener.names=CONTROLLER\n"
    "listeners=SASL_SSL://:9092\nadvertised.listeners=SASL_SSL://kafka:9092\n"
    "ssl.keystore.password=Zq7x-broker\nssl.keystore.password=Zq7x-broker-again\n"
    "password.encoder.secret=Zq7x-encoder\npassword.encoder.iterations=Zq7x-not-a-number\n"
    "delegation.token.master.key=Zq7x-master\ndelegation.token.secret.key=Zq7x-delegation\n"
    f"listener.name.sasl_ssl.plain.sasl.jaas.config={JAAS}\n"
    "ssl.client.auth=Required\nmax.request.size=1\n",
    "connect-distributed.properties": "bootstrap.servers=kafka:9092\ngroup.id=c\nconfig.storage.topic=a\n"
    "offset.storage.topic=b\nstatus.storage.topic=c\nkey.converter=JsonConverter\n"
    f"producer.sasl.jaas.config={JAAS}\nconsumer.ssl.key.password=Zq7x-connect\n"
    "inter.worker.key.ttl.ms=soon\n",
    "file-source.properties": "name=jdbc\nconnector.class=io.confluent.JdbcSource\ntasks.max=1\n"
    "connection.url=jdbc:postgresql://db/x?user=u&password=Zq7x-jdbc\nconnection.password=Zq7x-connector\n"
    "acks=1\nssl.key.password=Zq7x-connector-client\n",
    "spring/application.yml": "spring:\n  kafka:\n    bootstrap-servers: kafka:9092\n"
    "    ssl:\n      key-password: Zq7x-spring\n      key-pasword: Zq7x-typo-field-password=Zq7x\n"
    "      trust-store-password: ${TRUST:Zq7x-default}\n"
    "    producer:\n      password: Zq7x-own\n      sasl-jaas-config: Zq7x-nothing-binds\n      acks: ALL\n"
    f"      properties:\n        sasl.jaas.config: '{JAAS}'\n        ssl.key.password: Zq7x-twice\n"
    "    properties:\n      ssl.key.password: Zq7x-over\n      my.secret.token: Zq7x-token\n"
    "      registry: https://alice:Zq7x-yaml-url@r:1\n",
    "spring-properties/application.properties": "spring.kafka.bootstrap-servers=kafka:9092\n"
    "spring.kafka.ssl.key-password=Zq7x-one\nspring.kafka.ssl.keyPassword=Zq7x-two\n"
    "spring.kafka.producer.client-secret=Zq7x-unbound\n"
    f"spring.kafka.properties.sasl.jaas.config={JAAS}\n",
    "compose/docker-compose.yml": "services:\n"
    "  kafka:\n    image: confluentinc/cp-kafka:7.9.0\n    env_file: broker.env\n    environment:\n"
    "      KAFKA_PROCESS_ROLES: broker\n      KAFKA_NODE_ID: one\n"
    "      KAFKA_SSL_KEYSTORE_PASSWORD: Zq7x-map\n"
    "      KAFKA_SSL_KEY_PASSWORD: ${KEYPASS:-Zq7x-compose-default}\n"
    "      KAFKA_OPTS: -Djava.security=x -Dssl.password=Zq7x-opts\n"
    "      KAFKA_MAX_REQUEST_SIZE: 1\n      SSL_TRUSTSTORE_PASSWORD: Zq7x-no-prefix\n"
    f"      KAFKA_LISTENER_NAME_SASL__SSL_PLAIN_SASL_JAAS_CONFIG: '{JAAS}'\n"
    "  second:\n    image: bitnami/kafka:3.9\n    environment:\n"
    "      - KAFKA_CFG_NODE_ID=2\n      - KAFKA_CFG_SSL_KEYSTORE_PASSWORD=Zq7x-list\n"
    "      - KAFKA_CFG_SSL_KEYSTORE_PASSWORD=Zq7x-list-again\n"
    "      - KAFKA_CLIENT_PASSWORDS=Zq7x-bitnami\n      - KAFKA_INTER_BROKER_PASSWORD=Zq7x-inter\n"
    "      - KAFKA_SSL_KEY_PASSWORD=Zq7x-needs-prefix\n",
    "compose/broker.env": "KAFKA_LISTENERS=SASL_SSL://:9092\nKAFKA_LOG_DIRS=/x\n"
    "KAFKA_SSL_TRUSTSTORE_PASSWORD=Zq7x-env-file\nKAFKA_SASL_JAAS_CONFIG=" + JAAS + "\n",
    "env/.env": "KAFKA_NODE_ID=1\nKAFKA_PROCESS_ROLES=broker\nKAFKA_LISTENERS=PLAINTEXT://:9092\n"
    "KAFKA_SSL_KEYSTORE_PASSWORD=Zq7x-dotenv\nKAFKA_SSL_KEYSTORE_PASSWORD=Zq7x-dotenv-again\n"
    "KAFKA_NUM_IO_THREADS=many\nAWS_SECRET_ACCESS_KEY=Zq7x-aws\n",
    "strimzi/kafka.yaml": "apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nmetadata:\n  name: shop\n"
    "spec:\n  kafka:\n    version: 4.1.0\n    replicas: 3\n    config:\n"
    "      ssl.keystore.password: Zq7x-strimzi\n      my.token.secret: Zq7x-strimzi-token\n"
    "      min.insync.replicas: two\n      num.io.threads: 1\n      num.io.threads: 2\n",
    "strimzi/connect.yaml": "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaConnect\nmetadata:\n  name: c\n"
    "spec:\n  replicas: 1\n  bootstrapServers: kafka:9092\n  config:\n    group.id: c\n"
    "    sasl.jaas.config: password=Zq7x-forbidden\n    producer.ssl.key.password: Zq7x-sc\n---\n"
    "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaConnector\nmetadata:\n  name: j\n"
    "  labels:\n    strimzi.io/cluster: c\nspec:\n  class: x.Y\n  tasksMax: 1\n  config:\n"
    "    database.password: Zq7x-db\n    acks: '1'\n    uri: mongodb://u:Zq7x-mongo@h\n---\n"
    "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaUser\nmetadata:\n  name: u\n"
    "  labels:\n    strimzi.io/cluster: shop\nspec:\n  authentication:\n    type: scram-sha-512\n"
    "    password:\n      value: Zq7x-user\n",
    "rdkafka.properties": "bootstrap.servers=kafka:9092\nmessage.timeout.ms=5\nqueue.buffering.max.ms=x\n"
    "sasl.password=Zq7x-rdkafka\nssl.key.password=Zq7x-rdkey\nsasl.pasword.secret=Zq7x-rdtypo\n",
}

# Files that cannot be read, each with the secret at the very place that the message is about.
BROKEN = {
    "a/docker-compose.yml": "services:\n  kafka:\n    image: apache/kafka\n    environment:\n"
    '      KAFKA_SSL_KEY_PASSWORD: "Zq7x-unclosed\n',
    "b/docker-compose.yml": "services:\n  kafka:\n    image: apache/kafka\n    environment:\n"
    "      KAFKA_SSL_KEY_PASSWORD: *Zq7x-alias\n",
    "c/docker-compose.yml": "services:\n  kafka:\n    image: apache/kafka\n    environment:\n"
    "      KAFKA_SSL_KEY_PASSWORD: %Zq7x-percent\n",
    "d/docker-compose.yml": "services:\n  kafka:\n    image: apache/kafka\n    environment:\n"
    "      KAFKA_SSL_KEY_PASSWORD: !Zq7x!tag x\n",
    "e/application.yml": "spring:\n  kafka:\n    bootstrap-servers: k:1\n    ssl:\n"
    "      key-password: @Zq7x-at\n",
    "f/application.yml": "spring:\n  kafka:\n    bootstrap-servers: k:1\n    ssl:\n"
    "      key-password: [Zq7x-list\n",
    "g/producer.properties": "bootstrap.servers=k:1\nacks=1\nlinger.ms=1\nssl.key.password=Zq7x\\u00zz\n",
    "h/kafka.yaml": "apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nmetadata: {name: x}\nspec:\n"
    "  kafka:\n    config:\n      ssl.key.password: 'Zq7x-strimzi\n",
    "i/docker-compose.yml": "services:\n  kafka:\n    image: apache/kafka\n    environment:\n"
    "      <<: Zq7x-merge\n",
}


@pytest.fixture
def planted(tmp_path):
    folder = tmp_path / "planted"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "kafka-advisor.toml").write_text('profile = "prod"\n')
    return folder


def leaks(text: str) -> list[str]:
    return [line for line in text.splitlines() if WORD in line]


OPTIONS = [(), ("--show-effective",), ("--no-link", "--show-effective"), ("--kafka-version", "3.9")]


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_planted_secrets_stay_where_they_are(advisor, planted, tmp_path, options):
    own = {"KAFKA_ADVISOR_CACHE": str(tmp_path / ".cache")}
    done = advisor("audit", *options, "--report", f"json={tmp_path / 'r.json'}", planted, env=own)
    told(done, 1)
    assert leaks(done.stdout) == []
    assert leaks(done.stderr) == []
    assert leaks((tmp_path / "r.json").read_text()) == []
    entries = [entry for entry in (tmp_path / ".cache").rglob("*") if entry.is_file()]
    assert entries
    assert leaks("\n".join(entry.read_text() for entry in entries)) == []


def test_diffs_and_messages_of_fix_hold_no_secret(advisor, planted):
    """The secrets stand beside the lines that are changed, and in one of them."""
    done = advisor("fix", planted)
    told(done, 1)
    assert leaks(done.stdout + done.stderr) == []
    assert "KAFKA_CFG_SSL_KEY_PASSWORD=<secret>" in done.stdout


def test_every_planted_file_was_judged(advisor, planted):
    """The test above would pass on files that nobody reads."""
    done = advisor("audit", "--format", "json", "--show-effective", planted)
    report = json.loads(done.stdout)
    assert {file["file"]: file["status"] for file in report["files"]} == dict.fromkeys(FILES, "audited")
    assert {file["format"] for file in report["files"]} == {
        "properties",
        "spring",
        "compose",
        "envfile",
        "strimzi",
    }
    assert done.stdout.count("<secret>") > 20
    found = {finding["code"] for finding in report["findings"]}
    assert found >= {"KA002", "KA006", "KA020", "KA021", "KA022"}, found


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_message_about_a_broken_file_does_not_quote_it(advisor, tmp_path, name):
    path = tmp_path / "root" / name
    path.parent.mkdir(parents=True)
    path.write_text(BROKEN[name])
    done = advisor("audit", "--report", f"json={tmp_path / 'r.json'}", path)
    told(done, 2)
    assert leaks(done.stdout + done.stderr) == []
    assert leaks((tmp_path / "r.json").read_text()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["--set", "producer.ssl.key.password=Zq7x-set"],
        pytest.param(["--set", "producer.ssl.key.pasword=Zq7x-typo"]),
        pytest.param(["--set", "writer.ssl.key.password=Zq7x-component"]),
    ],
    ids=lambda words: words[1],
)
def test_secret_on_the_command_line_is_not_repeated(advisor, planted, words):
    done = advisor("audit", "--show-effective", *words, planted)
    assert leaks(done.stdout + done.stderr) == []
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "value",
    [
        "https://alice:Zq7x@host",
        "redis://:Zq7x@cache:6379",
        "mongodb://u:Zq7x%2F@h1:1,h2:2/db",
        "jdbc:sqlserver://h;user=u;password=Zq7x",
        "jdbc:oracle:thin:scott/x@h?password = Zq7x",
        "-Dssl.PASSWORD=Zq7x",
    ],
)
def test_value_that_holds_a_secret_under_a_harmless_key(advisor, tmp_path, value):
    text = f"bootstrap.servers=k:9092\nacks=ALL\nlinger.ms=1\nmy.endpoint={value}\nmy.endpoint={value}\n"
    (tmp_path / "producer.properties").write_text(text)
    done = advisor("audit", "--show-effective", "producer.properties")
    told(done, 1)
    assert leaks(done.stdout) == []
    assert "my.endpoint" in done.stdout


def test_secret_cannot_be_written_by_accident():
    secret = Secret("Zq7x-value")
    shown = [str(secret), repr(secret), f"{secret}", f"{secret:>20}", str([secret]), repr({"a": secret})]
    assert leaks("\n".join(shown)) == []
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError):
            pickle.dumps(secret, protocol)
    with pytest.raises(TypeError):
        json.dumps(secret)
    with pytest.raises((TypeError, AttributeError)):
        vars(secret)
    assert leaks(repr(copy.copy([secret]))) == []
