"""Spring's listeners: which settings win, which group results, and how many consumers."""

from __future__ import annotations

import pytest

from advisor.join.neighbours.listeners import with_listeners
from advisor.model import Source
from tests.formats import runner

APPLICATION = """spring:
  kafka:
    bootstrap-servers: kafka:9092
    consumer:
      group-id: shop
      max-poll-records: 100
    listener:
      concurrency: 2
"""
FACTORY = """@Configuration class F {
  @Bean
  public ConcurrentKafkaListenerContainerFactory<String, String> %s() {
    var f = new ConcurrentKafkaListenerContainerFactory<String, String>();
    f.setConcurrency(%s);
    return f;
  }
}
"""


def consumers(files: dict[str, str], joined: bool = True):
    documents = []
    for file, text in files.items():
        name = "java-source" if file.endswith((".java", ".kt")) else "spring"
        load, _ = runner.code_of(name)
        documents += load(Source(file, text, lambda _: None)).documents
    return [one for one in with_listeners(documents, joined) if one.component == "consumer"]


def java(attributes: str, *more: str) -> str:
    methods = "".join(
        f"  @KafkaListener({one})\n  void m{number}(String s) {{}}\n"
        for number, one in enumerate((attributes, *more))
    )
    return f'class L {{\n  static final String T = "orders";\n{methods}}}\n'


def of(document, *, key="", fact="", hint=""):
    if key:
        return next((str(one.value) for one in document.settings if one.key == key), None)
    if fact:
        return next((one.value for one in document.facts if one.name == fact), None)
    return [value for kind, value in document.hints if kind == hint]


JAVA, YAML = "a/src/main/java/L.java", "a/src/main/resources/application.yml"


@pytest.mark.parametrize(
    ("attributes", "group"),
    [
        ("topics = T", "shop"),
        ('topics = T, groupId = "own"', "own"),
        ('id = "x", topics = T', "x"),
        ('id = "x", idIsGroup = false, topics = T', "shop"),
        ('id = "x", groupId = "own", topics = T', "own"),
        ('topics = T, groupId = "${app.none}"', "unknown (${app.none})"),
        ('topics = T, groupId = "${app.none:fallback}"', "fallback"),
    ],
)
def test_the_group(attributes, group):
    (found,) = consumers({JAVA: java(attributes), YAML: APPLICATION})
    assert of(found, key="group.id") == group
    assert of(found, hint="topic") == ["orders"]
    assert found.file == YAML
    assert of(found, hint="group") == ([] if group.startswith("unknown") else [group])


@pytest.mark.parametrize(
    ("attributes", "factory", "members"),
    [
        ("topics = T", None, "2"),
        ('topics = T, concurrency = "5"', None, "5"),
        ("topics = T", FACTORY % ("kafkaListenerContainerFactory", 4), "4"),
        ('topics = T, concurrency = "5"', FACTORY % ("kafkaListenerContainerFactory", 4), "5"),
        ('topics = T, containerFactory = "big"', FACTORY % ("big", 8), "8"),
        ('topics = T, concurrency = "${threads}"', None, None),
        ("topics = T", FACTORY % ("kafkaListenerContainerFactory", "threads()"), None),
        ('topics = T, autoStartup = "false"', None, None),
    ],
)
def test_how_many_consumers(attributes, factory, members):
    files = {JAVA: java(attributes), YAML: APPLICATION}
    (found,) = consumers(files | ({"a/src/main/java/F.java": factory} if factory else {}))
    assert of(found, fact="group.members") == members


def test_listeners_of_one_group_add_up():
    (found,) = consumers({JAVA: java('topics = T, concurrency = "3"', 'topics = "mails"'), YAML: APPLICATION})
    assert of(found, fact="group.members") == "5"
    assert of(found, hint="topic") == ["orders", "mails"]


def test_each_group_is_a_consumer_of_its_own():
    found = consumers({JAVA: java("topics = T", 'topics = T, groupId = "mail"'), YAML: APPLICATION})
    assert [of(one, key="group.id") for one in found] == ["shop", "mail"]
    assert [one.name for one in found] == ["application consumer shop", "application consumer mail"]
    assert all(of(one, key="max.poll.records") == "100" for one in found)


def test_properties_of_the_annotation_win_but_for_the_group():
    text = java('topics = T, properties = {"max.poll.records=7", "group.id=never", "fetch.min.bytes:1"}')
    (found,) = consumers({JAVA: text, YAML: APPLICATION})
    assert of(found, key="max.poll.records") == "7"
    assert of(found, key="fetch.min.bytes") == "1"
    assert of(found, key="group.id") == "shop"


def test_another_module_has_settings_of_its_own():
    other = APPLICATION.replace("shop", "other")
    files = {JAVA: java("topics = T"), YAML: APPLICATION, "b/src/main/resources/application.yml": other}
    found = {one.file: one for one in consumers(files)}
    assert of(found[YAML], hint="topic") == ["orders"]
    assert of(found["b/src/main/resources/application.yml"], hint="topic") == []


def test_without_settings_in_sight_it_is_a_consumer_by_itself():
    for found in (consumers({JAVA: java('topics = T, groupId = "g"')}),):
        (one,) = found
        assert (one.file, one.format, one.line) == (JAVA, "java-source", 3)
        assert of(one, key="group.id") == "g"


def test_a_factory_that_nobody_has_seen_configures_it():
    files = {JAVA: java('topics = T, containerFactory = "elsewhere", groupId = "g"'), YAML: APPLICATION}
    found = consumers(files)
    assert sorted(one.file for one in found) == [JAVA, YAML]


def test_a_map_in_code_is_what_its_factory_is_made_of():
    code = """import org.apache.kafka.clients.consumer.ConsumerConfig;
class C {
  @Bean ConsumerFactory<String, String> cf() {
    Map<String, Object> props = new HashMap<>();
    props.put(ConsumerConfig.GROUP_ID_CONFIG, "coded");
    props.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 9);
    return new DefaultKafkaConsumerFactory<>(props);
  }
  @Bean ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory() {
    var f = new ConcurrentKafkaListenerContainerFactory<String, String>();
    f.setConsumerFactory(cf());
    return f;
  }
}
"""
    files = {JAVA: java("topics = T"), "a/src/main/java/C.java": code}
    (found,) = consumers(files)
    assert (of(found, key="group.id"), of(found, key="max.poll.records")) == ("coded", "9")
    assert found.file == "a/src/main/java/C.java"
    assert of(found, hint="topic") == ["orders"]


def test_not_joined_each_is_alone():
    found = consumers({JAVA: java('topics = T, groupId = "g"'), YAML: APPLICATION}, joined=False)
    assert sorted(one.file for one in found) == [JAVA, YAML]


def test_partitions_that_are_assigned():
    text = java('topicPartitions = @TopicPartition(topic = "orders", partitions = "0"), groupId = "g"')
    (found,) = consumers({JAVA: text})
    assert of(found, fact="consumer.subscription") == "assign"
