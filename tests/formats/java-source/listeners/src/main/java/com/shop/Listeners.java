package com.shop;

import org.springframework.kafka.annotation.KafkaListener;

@Component
public class Listeners {
    private static final String ORDERS = "orders";

    // reads what was ordered
    @KafkaListener(id = "billing", topics = {ORDERS, "refunds"}, concurrency = "3")
    public void bill(String order) {
    }

    @KafkaListener(id = "mail", idIsGroup = false, topics = "${app.topics.mail}",
            properties = {"max.poll.records=10", "auto.offset.reset:earliest"})
    void mail(@Payload String text, @Header("x") String x) {}

    @KafkaListener(topicPattern = "audit\\..*", groupId = "${app.group:audit}", autoStartup = "false")
    void audit(String text) {}

    @KafkaListener(groupId = "#{@groups.name()}", topicPartitions = @TopicPartition(topic = "orders", partitions = {"0", "1"}),
            containerFactory = "batchFactory", concurrency = "${app.threads}")
    void batch(List<String> all) {}
}
