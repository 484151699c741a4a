import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.StringSerializer;

@Configuration
public class KafkaConfig {
    @Value("${kafka.servers}")
    private String servers;

    @Bean
    public Map<String, Object> producerConfigs(KafkaProperties boot) {
        Map<String, Object> props = new HashMap<>(boot.buildProducerProperties(null));
        props.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
        props.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, StringSerializer.class);
        props.put(ProducerConfig.ACKS_CONFIG, "1");
        props.put(ProducerConfig.BATCH_SIZE_CONFIG, 32_768);
        props.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 10_000L);
        if (servers.startsWith("ssl")) {
            props.put("security.protocol", "SSL");
        }
        return props;
    }

    @Bean
    public ProducerFactory<String, String> producerFactory() {
        return new DefaultKafkaProducerFactory<>(producerConfigs(null));
    }

    void plain() {
        Properties p = new Properties();
        p.setProperty("bootstrap.servers", "kafka:9092");
        p.setProperty("acks", "all");
        p.setProperty("acks", "0");
        p.put("sasl.jaas.config", "hunter2");
        new KafkaProducer<String, String>(p);
    }

    KStream<String, String> streams() {
        Map<String, Object> config = Map.of(
            StreamsConfig.APPLICATION_ID_CONFIG, "totals",
            StreamsConfig.producerPrefix(ProducerConfig.ACKS_CONFIG), "all",
            StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
        return null;
    }
}
