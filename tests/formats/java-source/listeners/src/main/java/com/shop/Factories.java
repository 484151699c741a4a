package com.shop;

import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;

@Configuration
class Factories {
    @Bean
    public ConcurrentKafkaListenerContainerFactory<String, String> batchFactory(ConsumerFactory<String, String> cf) {
        var factory = new ConcurrentKafkaListenerContainerFactory<String, String>();
        factory.setConsumerFactory(cf);
        factory.setConcurrency(4);
        factory.setBatchListener(true);
        return factory;
    }
}
