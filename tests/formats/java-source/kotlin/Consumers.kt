package com.shop

import org.apache.kafka.clients.consumer.ConsumerConfig
import org.apache.kafka.common.serialization.StringDeserializer

const val TOPIC = "orders"

class Consumers {
    @KafkaListener(topics = [TOPIC], groupId = "billing", concurrency = "2")
    fun bill(order: String) { }

    @KafkaListener(topics = ["\${app.topic}"])
    fun other(order: String) = Unit

    fun config(servers: String): Map<String, Any> = mapOf(
        ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG to servers,
        ConsumerConfig.GROUP_ID_CONFIG to "billing",
        ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG to StringDeserializer::class.java,
        ConsumerConfig.MAX_POLL_RECORDS_CONFIG to 50,
    )

    fun more(): Properties {
        val props = Properties()
        props[ConsumerConfig.GROUP_ID_CONFIG] = "other"
        props[ConsumerConfig.AUTO_OFFSET_RESET_CONFIG] = "earliest"
        return props
    }
}
