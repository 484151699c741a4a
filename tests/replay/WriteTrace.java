import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Makes topics and writes a trace at its own pace: lines of at, topic, producer, timestamp, key, value size. */
public class WriteTrace {
    public static void main(String[] words) throws Exception {
        Properties given = new Properties();
        try (var in = Files.newInputStream(Path.of(words[0]))) {
            given.load(in);
        }
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", given.getProperty("bootstrap.servers")))) {
            for (String line : Files.readAllLines(Path.of(words[1]))) {
                String[] parts = line.split("\t");
                Map<String, String> configs = new HashMap<>();
                for (int n = 2; n < parts.length; n++) {
                    String[] pair = parts[n].split("=", 2);
                    configs.put(pair[0], pair[1]);
                }
                admin.createTopics(List.of(new NewTopic(parts[0], Integer.parseInt(parts[1]), (short) 1).configs(configs)))
                    .all().get();
            }
        }
        Map<String, KafkaProducer<byte[], byte[]>> producers = new HashMap<>();
        List<String> lines = Files.readAllLines(Path.of(words[2]));
        for (String line : lines) {
            String[] parts = line.split("\t");
            if (!producers.containsKey(parts[2])) {
                var producer = new KafkaProducer<>(given, new ByteArraySerializer(), new ByteArraySerializer());
                producers.put(parts[2], producer);
                producer.partitionsFor(parts[1]);
            }
        }
        Thread.sleep(1500);
        long start = System.currentTimeMillis();
        for (String line : lines) {
            String[] parts = line.split("\t");
            long wait = start + Long.parseLong(parts[0]) - System.currentTimeMillis();
            if (wait > 0) {
                Thread.sleep(wait);
            }
            byte[] key = parts[4].getBytes(StandardCharsets.UTF_8);
            byte[] value = new byte[Integer.parseInt(parts[5])];
            producers.get(parts[2]).send(new ProducerRecord<>(parts[1], null, Long.parseLong(parts[3]), key, value));
        }
        for (var producer : producers.values()) {
            producer.flush();
            producer.close();
        }
        System.out.println("written " + lines.size());
        // What is on disk is looked at before anything is deleted: limits come into force with a line of input.
        System.in.read();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", given.getProperty("bootstrap.servers")))) {
            for (String line : Files.readAllLines(Path.of(words[3]))) {
                String[] parts = line.split("\t");
                String[] pair = parts[1].split("=", 2);
                var resource = new ConfigResource(ConfigResource.Type.TOPIC, parts[0]);
                var change = new AlterConfigOp(new ConfigEntry(pair[0], pair[1]), AlterConfigOp.OpType.SET);
                admin.incrementalAlterConfigs(Map.of(resource, List.of(change))).all().get();
            }
        }
    }
}
